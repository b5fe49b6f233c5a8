%% Sequential tracing: what tokens do on their way through messages, timers, ports, aliases, spawns
%% and exits, and what the system tracer hears. Serials that a spawn has a part in are left out.
-module(seq_trace_tokens).
-export([main/0, echo/1, token/1]).

main() ->
    Me = self(),
    put(names, [{Me, me}]),
    C = name(c, spawn(?MODULE, echo, [Me])),
    D = name(d, spawn(?MODULE, echo, [C])),
    register(kid, C),
    Tracer = spawn(fun() -> collect([]) end),
    [show(load, code:ensure_loaded(M) =:= {module, M}) || M <- [seq_trace, io, erl_erts_errors]],
    show(none, [seq_trace:get_system_tracer(), seq_trace:get_token(), seq_trace:print(x)]),
    show(set, seq_trace:set_system_tracer(Tracer)),
    show(set, seq_trace:get_system_tracer() =:= Tracer),
    put(tracer, Tracer),

    part(messages, fun() ->
        C ! {give, one}, got(one),
        D ! {give, {two, <<0:800>>}}, D ! {on, {three, "literal"}}, got({three, "literal"}),
        kid ! {give, four}, {kid, node()} ! {give, five}, got(five), got(four),
        show(token, seq_trace:get_token())
    end),
    part(print, fun() -> show(print, [seq_trace:print(a), seq_trace:print({lbl, 1}, b)]) end),
    part(printed, fun() ->
        show(print, [seq_trace:print(a), seq_trace:print({lbl, 1}, b), seq_trace:print(9, c)]) end),
    part(selective, fun() ->
        C ! {give, s1}, C ! {give, s2}, got(s2), show(token, seq_trace:get_token()),
        got(s1), show(token, seq_trace:get_token()) end),
    part(keeps, fun() ->
        erlang:send_after(1, self(), tick), got(tick), show(timer, seq_trace:get_token(label)),
        T = erlang:start_timer(1, self(), tock), receive {timeout, T, tock} -> ok end,
        show(timer, seq_trace:get_token(label)),
        receive after 2 -> ok end, show('after', seq_trace:get_token(label)),
        P = open_port({spawn, "cat"}, [binary]),
        P ! {self(), {command, <<"abc">>}}, receive {P, {data, B}} -> show(port, B) end,
        show(port, seq_trace:get_token(label)), port_close(P),
        M = monitor(process, spawn(fun() -> seq_trace:set_token([]) end)),
        receive {'DOWN', M, _, _, R} -> show(down, R) end,
        show(down, seq_trace:get_token(label))
    end, fun kinds/1),
    part(alias, fun() ->
        A = name(alias, alias([reply])), A ! first, A ! second, got(first),
        show(alias, [receive X -> X after 20 -> nothing end])
    end),
    part(ends, fun() ->
        spawn(fun() -> seq_trace:set_token([]), Me ! plain end), got(plain),
        show(token, seq_trace:get_token()) end, fun kinds/1),
    part(spawns, fun() ->
        spawn(?MODULE, token, [Me]), show(child, got()),
        unlink(spawn_link(?MODULE, token, [Me])), show(child, got()),
        spawn_opt(?MODULE, token, [Me], [{priority, low}]), show(child, got()),
        Q = spawn_request(?MODULE, token, [Me], [{reply_tag, tag}]),
        receive {tag, Q, ok, _} -> ok end, show(child, got())
    end, fun kinds/1),
    process_flag(trap_exit, true),
    part(exits, fun() ->
        E = name(e, spawn_link(?MODULE, echo, [Me])),
        E ! {'end', why}, receive {'EXIT', E, W} -> show(exit, W) end,
        show(token, seq_trace:get_token(label)),
        F = name(f, spawn_link(?MODULE, echo, [Me])),
        exit(F, bye), receive {'EXIT', F, V} -> show(exit, V) end,
        show(token, seq_trace:get_token(label)),
        exit(self(), none), receive {'EXIT', Me, U} -> show(exit, U) end,
        show(token, seq_trace:get_token(label))
    end, fun kinds/1),
    part(nothing_asked, fun() ->
        [seq_trace:set_token(F, false) || F <- [send, 'receive', print]],
        C ! {give, x}, got(x), show(token, seq_trace:get_token()) end),
    show(info, process_info(Me, sequential_trace_token)),

    [begin
         seq_trace:set_token(label, S), seq_trace:set_token(print, true),
         seq_trace:set_token(S, true), seq_trace:print(now), seq_trace:set_token([]),
         [{seq_trace, S, {print, _, _, [], now}, Ts}] = log(),
         show(S, shape(Ts))
     end || S <- [timestamp, monotonic_timestamp, strict_monotonic_timestamp]],
    seq_trace:reset_trace(),
    show(bad, [catch_it(fun() -> erlang:seq_trace(K, V) end)
               || {K, V} <- [{foo, true}, {serial, x}, {serial, {a, 1}}, {send, 'maybe'}, {1, 1},
                             {sequential_trace_token, {1, 2, 3, Me, 5}}]]),
    show(bad, [catch_it(fun() -> seq_trace:set_system_tracer(X) end) || X <- [true, 1, foo]]),
    show(old, [erlang:seq_trace(label, 1), erlang:seq_trace(label, 2), erlang:seq_trace(serial, {7, 8}),
               seq_trace:get_token(serial), seq_trace:set_token(send, true), seq_trace:get_token(send),
               erlang:seq_trace(sequential_trace_token, [])]),
    seq_trace:set_token(label, 3),
    show(last, seq_trace:get_token()),
    seq_trace:reset_trace(),
    seq_trace:set_token(label, 3),
    show(reset, seq_trace:get_token()),
    seq_trace:set_token([]),
    specs(),
    exit(Tracer, kill), timer:sleep(10),
    show(gone, seq_trace:get_system_tracer()).

%% Match specifications that look at tokens and set them.
specs() ->
    Me = self(),
    W = spawn_link(fun() -> receive go -> token(Me), token(Me) end end),
    erlang:trace(W, true, [call]),
    erlang:trace_pattern({?MODULE, token, 1},
                         [{'_', [{is_seq_trace}], [{message, {{again, {get_seq_token}}}}]},
                          {'_', [], [{set_seq_token, label, 77}, {message, {{first, {get_seq_token}}}}]}],
                         [local]),
    W ! go,
    All = [got() || _ <- [1, 2, 3, 4]],
    show(child, [M || M <- All, element(1, M) =/= trace]),
    show(spec, [{A, label(T)} || {trace, _, call, _, {A, T}} <- All]),
    erlang:trace_pattern({?MODULE, token, 1}, false, [local]).

part(Name, F) -> part(Name, F, fun(L) -> L end).
part(Name, F, View) ->
    io:format("-- ~p~n", [Name]),
    seq_trace:reset_trace(),
    seq_trace:set_token(label, {lbl, 1}),
    [seq_trace:set_token(X, true) || X <- [send, 'receive', print], Name =/= print orelse X =/= print],
    put(held, []),
    R = (catch F()),
    seq_trace:set_token([]),
    [io:format("~p ~0p~n", [K, names(V)]) || {K, V} <- lists:reverse(erase(held))],
    is_tuple(R) andalso element(1, R) =:= 'EXIT' andalso io:format("~0p~n", [R]),
    [io:format("  ~0p~n", [names(M)]) || M <- View(log())],
    ok.

%% Printing sends messages too: it waits until the part is over.
show(K, V) ->
    case get(held) of
        undefined -> io:format("~p ~0p~n", [K, names(V)]);
        L -> put(held, [{K, V} | L])
    end.

kinds(L) -> [{K, From, To, request(M)} || {seq_trace, _, {K, _, From, To, M}} <- L].
request({spawn_request, _, Parent, _, _, Options, Tag, _}) -> {spawn_request, Parent, Options, Tag};
request(M) -> M.
log() -> timer:sleep(30), get(tracer) ! {get, self()}, receive {log, L} -> by_serial(L) end.
by_serial(L) -> lists:sort(fun(A, B) -> key(A) =< key(B) end, L).
key(M) -> {K, {P, S}, _, _, _} = element(3, M), {S, P, K =:= 'receive'}.
collect(L) -> receive {get, F} -> F ! {log, lists:reverse(L)}, collect([]); M -> collect([M | L]) end.

echo(To) ->
    receive
        {give, X} -> To ! X, echo(To);
        {on, X} -> To ! {give, X}, echo(To);
        {'end', R} -> exit(R)
    end.
token(To) -> To ! label(seq_trace:get_token()), ok.
label([]) -> [];
label(T) -> {element(1, T), element(2, T)}.

got(X) -> receive X -> ok after 2000 -> throw({no, X}) end.
got() -> receive X -> X after 2000 -> throw(nothing) end.
name(N, P) -> put(names, [{P, N} | get(names)]), P.
names(T) when is_pid(T); is_reference(T); is_port(T) ->
    case lists:keyfind(T, 1, get(names)) of
        {_, N} -> N;
        false when is_pid(T) -> pid;
        false when is_port(T) -> port;
        false -> ref
    end;
names(T) when is_tuple(T) -> list_to_tuple([names(X) || X <- tuple_to_list(T)]);
names([H | T]) -> [names(H) | names(T)];
names(T) -> T.
shape(T) when is_tuple(T) -> list_to_tuple([shape(X) || X <- tuple_to_list(T)]);
shape(T) when is_integer(T) -> integer.
catch_it(F) -> try F() catch C:R -> {C, R} end.
