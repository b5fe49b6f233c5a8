%% since 27
%% Sessions side by side: tracers, flags, patterns, information, errors, and their end.
-module(since27_trace_sessions).
-export([main/0]).
-export([f/1, g/1, run/1]).

main() ->
    A = tracer(a), B = tracer(b),
    S1 = trace:session_create(one, A, []), S2 = trace:session_create(two, B, []),
    P = spawn(?MODULE, run, [self()]), put(p, P), put(tracers, [A, B]),
    both(S1, S2), patterns(S1, S2), messages(S1, S2), information(S1, S2), inherited(S1, S2),
    meta(S1, S2), legacy(S1), errors(S1), counters(S1, S2), ends(S1, S2), handles(A), tracer_ends(),
    exit(P, kill).

%% Two sessions trace the same process and the same function, each in its own way.
both(S1, S2) ->
    P = get(p), say(both),
    1 = trace:process(S1, P, true, [call, arity]), 1 = trace:process(S2, P, true, [call]),
    1 = trace:function(S1, {?MODULE, f, 1}, true, [local]),
    1 = trace:function(S2, {?MODULE, f, 1}, [{'_', [], [{return_trace}]}], [local]),
    do(fun() -> f(1) end),
    1 = trace:function(S1, {?MODULE, f, 1}, false, [local]),
    do(fun() -> f(2) end),
    1 = trace:function(S1, {?MODULE, f, 1}, true, [global]),
    do(fun() -> ?MODULE:f(3) end),
    do(fun() -> f(4) end),
    1 = trace:process(S2, P, false, [call]),
    do(fun() -> ?MODULE:f(5) end),
    1 = trace:function(S1, {?MODULE, f, 1}, false, [global]),
    1 = trace:function(S2, {?MODULE, f, 1}, false, [local]),
    1 = trace:process(S1, P, false, [all]), ok.

%% What specifications do to flags concerns their session.
patterns(S1, S2) ->
    P = get(p), say(patterns),
    [1 = trace:process(S, P, true, [call]) || S <- [S1, S2]],
    [begin
         1 = trace:function(S1, {?MODULE, f, 1}, [{'_', [], Body}], [local]),
         1 = trace:function(S2, {?MODULE, f, 1}, true, [local]),
         say(Body), do(fun() -> f(1), f(2) end),
         say([trace:info(S, P, flags) || S <- [S1, S2]]),
         [1 = trace:process(S, P, true, [call]) || S <- [S1, S2]],
         [1 = trace:process(S, P, false, [silent, arity, send]) || S <- [S1, S2]]
     end || Body <- [[{silent, true}], [{disable_trace, call}], [{enable_trace, arity}],
                     [{trace, [call], [send]}], [{trace, [], [{{tracer, {self}}}]}],
                     [{message, {get_tcw}}], [{exception_trace}]]],
    [1 = trace:function(S, {?MODULE, f, 1}, false, [local]) || S <- [S1, S2]],
    [1 = trace:process(S, P, false, [all]) || S <- [S1, S2]], ok.

%% Patterns for messages.
messages(S1, S2) ->
    P = get(p), say(messages),
    [1 = trace:process(S, P, true, [send, 'receive']) || S <- [S1, S2]],
    1 = trace:send(S1, [{['_', {hello, '$1'}], [], [{message, '$1'}]}], []),
    1 = trace:recv(S1, false, []),
    1 = trace:send(S2, false, []),
    1 = trace:recv(S2, [{['_', '_', {other, '_'}], [], []}], []),
    Me = self(), Sink = spawn(fun() -> receive done -> ok end end),
    do(fun() -> Sink ! {hello, 1}, Sink ! other, Me end),
    P ! {other, 2}, P ! more, do(fun() -> ok end),
    say([trace:info(S, E, match_spec) || S <- [S1, S2], E <- [send, 'receive']]),
    say({mine(trace:session_info(send)), mine(trace:session_info('receive'))}),
    [begin 1 = trace:send(S, true, []), 1 = trace:recv(S, true, []) end || S <- [S1, S2]],
    [1 = trace:process(S, P, false, [all]) || S <- [S1, S2]], ok.

information(S1, S2) ->
    P = get(p), say(information),
    1 = trace:process(S1, P, true, [call, procs, timestamp]), 1 = trace:process(S2, P, true, [garbage_collection]),
    0 = trace:process(S1, new, true, [procs]), 0 = trace:port(S2, new, true, [ports]),
    0 = trace:function(S2, on_load, [{'_', [], []}], [local, call_count]),
    [say({I, [clean(trace:info(S, W, I)) || S <- [S1, S2], W <- [P, new, new_processes, new_ports]]}) || I <- [flags, tracer]],
    [say({I, [trace:info(S, on_load, I) || S <- [S1, S2]]}) || I <- [all, traced, match_spec, meta, call_count, call_time, call_memory]],
    1 = trace:function(S1, {?MODULE, g, 1}, [], [call_count]),
    [say({I, [trace:info(S, {?MODULE, g, 1}, I) || S <- [S1, S2]]}) || I <- [all, traced, match_spec, meta, meta_match_spec, call_count, call_time, call_memory]],
    [say({W, mine(trace:session_info(W))}) || W <- [new, new_processes, new_ports, on_load, {?MODULE, g, 1}, {?MODULE, f, 1}, {?MODULE, no, 7}]],
    say(mine(trace:session_info(P))), say(mine(trace:session_info(all))),
    Dead = spawn(fun() -> ok end), M = monitor(process, Dead), receive {'DOWN', M, _, _, _} -> ok end,
    say({trace:session_info(Dead), trace:info(S1, Dead, flags)}),
    1 = trace:function(S1, {?MODULE, g, 1}, false, [call_count]),
    0 = trace:process(S1, new, false, [all]), 0 = trace:port(S2, new, false, [all]),
    0 = trace:function(S2, on_load, false, [local, call_count]),
    [1 = trace:process(S, P, false, [all]) || S <- [S1, S2]], ok.

%% Flags that children and linked processes get.
inherited(S1, S2) ->
    say(inherited),
    [begin
         1 = trace:process(S1, self(), true, [procs, F]), 1 = trace:process(S2, self(), true, [garbage_collection, set_on_spawn]),
         C1 = spawn(fun idle/0), C2 = spawn_link(fun idle/0), C3 = spawn(fun idle/0), link(C3), link(C1),
         is_process_alive(C3), is_process_alive(C1),
         say({F, [[trace:info(S, C, flags) || S <- [S1, S2]] || C <- [self(), C1, C2, C3]]}),
         [1 = trace:process(S, self(), false, [all]) || S <- [S1, S2]],
         [begin unlink(C), exit(C, kill) end || C <- [C1, C2, C3]]
     end || F <- [set_on_spawn, set_on_first_spawn, set_on_link, set_on_first_link]],
    % Events of several processes come in any order.
    [begin T ! {told, self()}, receive {T, _, _} -> ok end end || T <- get(tracers)], ok.
idle() -> receive stop -> ok end.

meta(S1, S2) ->
    say(meta),
    1 = trace:function(S1, {?MODULE, f, 1}, [{'_', [], [{return_trace}]}], [meta]),
    1 = trace:function(S2, {?MODULE, f, 1}, true, [meta]),
    do(fun() -> f(1) end),
    say([clean(trace:info(S, {?MODULE, f, 1}, I)) || S <- [S1, S2], I <- [meta, meta_match_spec, traced]]),
    [1 = trace:function(S, {?MODULE, f, 1}, false, [meta]) || S <- [S1, S2]], ok.

%% The old functions act on a session of their own.
legacy(S1) ->
    P = get(p), say(legacy), Me = self(),
    1 = erlang:trace(P, true, [call]), 1 = erlang:trace_pattern({?MODULE, f, 1}, true, [local]),
    1 = trace:process(S1, P, true, [call]), 1 = trace:function(S1, {?MODULE, f, 1}, true, [local]),
    say([trace:session_info(W) =:= [{legacy, default}] orelse mine(trace:session_info(W)) || W <- [P, {?MODULE, f, 1}]]),
    do(fun() -> f(1) end),
    say(receive {trace, P, call, C} -> C after 1000 -> none end),
    say({erlang:trace_info(P, flags), trace:info(S1, P, flags), erlang:trace_info(P, tracer) =:= {tracer, Me}}),
    1 = erlang:trace(P, false, [call]), 1 = erlang:trace_pattern({?MODULE, f, 1}, false, [local]),
    do(fun() -> f(2) end),
    1 = trace:function(S1, {?MODULE, f, 1}, false, [local]), 1 = trace:process(S1, P, false, [call]), ok.

errors(S) ->
    say(errors), T = hd(get(tracers)),
    [say({F, N, error_of(F, Args)}) || {N, {F, Args}} <- lists:enumerate([
        {process, [S, self(), true, [{tracer, T}]]}, {process, [S, a, true, []]}, {process, [S, self(), maybe_, []]},
        {process, [S, self(), true, [nope]]}, {process, [nope, self(), true, []]}, {process, [S, self(), true, [call | x]]},
        {process, [{one, 77777}, self(), true, []]}, {port, [S, self(), x, []]},
        {function, [S, {?MODULE, f, 1}, true, [{meta, T}]]}, {function, [S, {?MODULE, f}, true, []]}, {function, [S, x, true, []]},
        {function, [S, {?MODULE, f, 1}, wrong, []]}, {function, [S, {?MODULE, f, 1}, [{'_', [], []}], [call_memory]]},
        {function, [S, {'_', f, 1}, true, []]}, {send, [S, x, []]}, {send, [S, true, [local]]}, {recv, [S, pause, []]},
        {info, [S, self(), nope]}, {info, [S, {?MODULE, f, 1}, nope]}, {info, [S, {?MODULE, none, 1}, nope]}, {info, [S, nope, flags]},
        {info, [make_ref(), self(), flags]}, {session_info, [nope]}, {session_info, [self(), 1]},
        {session_create, ["x", T, []]}, {session_create, [x, nobody, []]}, {session_create, [x, {no_such_module, 1}, []]},
        {session_create, [x, T, [opt]]}, {session_destroy, [x]}, {session_destroy, [{one, 77777}]}, {session_destroy, [make_ref()]}])], ok.
error_of(F, Args) ->
    try apply(trace, F, Args) of V -> {ok, V}
    catch error:R:Stack ->
        {_, _, _, Info} = hd(Stack),
        {R, case lists:keyfind(error_info, 1, Info) of {_, M} -> maps:get(cause, M, none); false -> no_info end}
    end.

counters(S1, S2) ->
    P = get(p), say(counters),
    [1 = trace:process(S, P, true, [call]) || S <- [S1, S2]],
    1 = trace:function(S1, {?MODULE, g, 1}, true, [call_count]), 1 = trace:function(S2, {?MODULE, g, 1}, true, [call_memory, call_count]),
    do(fun() -> [g(X) || X <- [1, 2, 3]] end),
    1 = trace:function(S1, {?MODULE, g, 1}, pause, [call_count]), 1 = trace:function(S2, {?MODULE, g, 1}, restart, [call_count]),
    do(fun() -> g(4) end),
    say([trace:info(S, {?MODULE, g, 1}, call_count) || S <- [S1, S2]]),
    {call_memory, [{P, 4, Words}]} = trace:info(S2, {?MODULE, g, 1}, call_memory), say(Words),
    1 = trace:function(S2, {?MODULE, g, 1}, pause, [call_memory]), do(fun() -> g(4) end),
    {call_memory, [{P, 4, Words}]} = trace:info(S2, {?MODULE, g, 1}, call_memory),
    1 = trace:function(S2, {?MODULE, g, 1}, true, [call_memory]),
    say(trace:info(S2, {?MODULE, g, 1}, call_memory)),
    [1 = trace:function(S, {?MODULE, g, 1}, false, [call_count, call_memory]) || S <- [S1, S2]],
    [1 = trace:process(S, P, false, [all]) || S <- [S1, S2]], ok.

%% A session that ends takes its settings along, and nothing else.
ends(S1, {_, Weak2} = S2) ->
    P = get(p), say(ends),
    [begin 1 = trace:process(S, P, true, [call]), 1 = trace:function(S, {?MODULE, f, 1}, true, [local]) end || S <- [S1, S2]],
    say(length(mine(trace:session_info(P)))),
    true = trace:session_destroy(Weak2), false = trace:session_destroy(S2), say(error_of(session_destroy, [Weak2])),
    do(fun() -> f(1) end),
    say({mine(trace:session_info(P)), mine(trace:session_info({?MODULE, f, 1})), error_of(info, [S2, P, flags])}),
    true = trace:session_destroy(S1), do(fun() -> f(2) end),
    say({trace:session_info(P), trace:session_info({?MODULE, f, 1}), trace:session_info(all)}), ok.

%% The last reference keeps a session.
handles(T) ->
    say(handles), Me = self(),
    H = spawn(fun() -> S = trace:session_create(kept, T, []), put(s, S), 1 = trace:process(S, Me, true, [procs]), Me ! {made, element(2, S)},
                       receive drop -> erase(s), erlang:garbage_collect(), Me ! dropped, receive stop -> ok end end end),
    Weak = receive {made, W} -> W end, erlang:garbage_collect(H),
    say({trace:info(Weak, self(), flags), [kept || {kept, _} <- trace:session_info(self())]}),
    H ! drop, receive dropped -> ok end,
    say(until(fun() -> trace:session_info(self()) =:= [] andalso [] =:= [K || {K, _} <- trace:session_info(all), K =:= kept] end)),
    say(element(1, error_of(info, [Weak, self(), flags]))), H ! stop, ok.

%% A tracer that ends ends only what it traces.
tracer_ends() ->
    P = get(p), say(tracer_ends), A = tracer(x), B = tracer(y), put(tracers, [B]),
    [S1, S2] = All = [trace:session_create(N, T, []) || {N, T} <- [{x, A}, {y, B}]],
    [begin 1 = trace:process(S, P, true, [call]), 1 = trace:function(S, {?MODULE, f, 1}, true, [local]) end || S <- All],
    M = monitor(process, A), exit(A, kill), receive {'DOWN', M, _, _, _} -> ok end,
    do(fun() -> f(1) end), say([trace:info(S, P, flags) || S <- All]),
    [true = trace:session_destroy(S) || S <- [S1, S2]], ok.

f(N) -> g(N).
g(N) -> {N, N}.
run(Parent) -> receive {do, F, Ref} -> catch F(), Parent ! {did, Ref}, run(Parent); {other, _} -> run(Parent); more -> run(Parent) end.
do(F) -> Ref = make_ref(), get(p) ! {do, F, Ref}, receive {did, Ref} -> flushed() end.

%% What the tracers were told, in the order of the tracers.
flushed() -> [begin T ! {told, self()}, receive {T, Name, L} -> [say({Name, clean(M)}) || M <- L, not is_own(M)] end end || T <- get(tracers)].
is_own({trace, _, 'receive', {do, _, _}}) -> true;
is_own({trace, _, 'receive', {told, _}}) -> true;
is_own({trace, _, send, {did, _}, _}) -> true;
is_own({trace, _, gc_minor_start, _}) -> true; is_own({trace, _, gc_minor_end, _}) -> true;
is_own({trace, _, gc_major_start, _}) -> true; is_own({trace, _, gc_major_end, _}) -> true;
is_own(_) -> false.
tracer(Name) -> spawn(fun() -> told(Name, []) end).
told(Name, L) -> receive {told, From} -> From ! {self(), Name, lists:reverse(L)}, told(Name, []); M -> told(Name, [M | L]) end.
mine(L) when is_list(L) -> [N || {N, _} <- L, lists:member(N, [one, two, x, y, legacy])];
mine(O) -> O.
until(F) -> case F() of true -> true; false -> timer:sleep(1), until(F) end.
clean(T) when is_pid(T) -> pid;
clean(T) when is_reference(T) -> ref;
clean({A, B, C}) when A > 1000, is_integer(A), is_integer(B), is_integer(C) -> stamp;
clean(T) when is_tuple(T) -> list_to_tuple(clean(tuple_to_list(T)));
clean([H | T]) -> [clean(H) | clean(T)];
clean(T) -> T.
say(T) -> io:format("~0p~n", [clean(T)]).
