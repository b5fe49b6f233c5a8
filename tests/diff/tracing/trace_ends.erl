%% How calls that are traced end: returns, exceptions caught near and far, tail calls, BIFs, who is
%% told of where control goes on. Breakpoints of the debugger.
-module(trace_ends).
-export([main/0, top/2, chain/2, inner/1, outer/1, diverted/2, breakpoint/3]).

main() ->
    Pid = spawn_link(fun() -> loop() end),
    Exc = [{'_', [], [{exception_trace}]}],
    [begin
         io:format("~p ~p~n", [Flags, Spec]),
         1 = erlang:trace(Pid, true, [call | Flags]),
         erlang:trace_pattern({?MODULE, '_', '_'}, Spec, [local]),
         [erlang:trace_pattern({erlang, F, A}, Spec, [local]) ||
             {F, A} <- [{error, 1}, {error, 2}, {throw, 1}, {exit, 1}, {atom_to_list, 1}]],
         [erlang:trace_pattern({?MODULE, F, '_'}, false, [local]) ||
             F <- [loop, main, '-main/0-fun-0-', '-main/0-fun-1-', '-main/0-fun-2-', '-main/0-fun-3-',
                   '-main/0-fun-4-', '-main/0-fun-5-', breakpoint]],
         [run(Pid, K, A) || {K, A} <- [{value, 1}, {error, e}, {error2, e}, {exit, x}, {throw, t}, {apply, a},
                                       {badarg, 17}, {clause, none}, {tail_bif, abc}]],
         erlang:trace_pattern({'_', '_', '_'}, false, [local]),
         1 = erlang:trace(Pid, false, [all])
     end || {Flags, Spec} <- [{[], Exc}, {[return_to], true}, {[return_to, arity], Exc},
                              {[silent, return_to], [{'_', [], [{silent, false}, {return_trace}]}]}]],
    io:format("nocatch~n"),
    Mad = spawn(fun() -> receive go -> outer(thrown) end end),
    1 = erlang:trace(Mad, true, [call]),
    erlang:trace_pattern({?MODULE, outer, 1}, Exc, [local]),
    erlang:trace_pattern({?MODULE, inner, 1}, Exc, [local]),
    logger:set_primary_config(level, none),
    Mad ! go,
    show(),
    io:format("meta~n"),
    erlang:trace_pattern({?MODULE, outer, 1}, Exc, [meta]),
    {'EXIT', _} = (catch outer(error)),
    _ = spawn(fun() -> catch outer(error) end),
    show(),
    erlang:trace_pattern({?MODULE, '_', '_'}, false, [meta]),
    io:format("debug~n"),
    Dbg = spawn(fun() -> process_flag(error_handler, ?MODULE), loop() end),
    1 = erts_debug:breakpoint({?MODULE, diverted, 2}, true),
    Dbg ! {run, self(), fun() -> diverted(1, [2]) end},
    receive {done, R} -> io:format("~p~n", [R]) end,
    1 = erts_debug:breakpoint({?MODULE, diverted, 2}, false),
    io:format("~p~n", [diverted(1, [2])]).

run(Pid, K, A) ->
    io:format(" ~p ~p~n", [K, A]),
    Pid ! {run, self(), fun() -> ?MODULE:top(K, A) end},
    receive {done, _} -> ok end,
    show().

show() ->
    receive
        T when element(1, T) =:= trace; element(1, T) =:= trace_ts ->
            io:format("  ~w~n", [plain(T)]),
            show()
    after 60 -> ok
    end.
plain(T) when element(1, T) =:= trace_ts ->
    list_to_tuple(lists:droplast(tuple_to_list(setelement(2, T, pid))));
plain(T) -> setelement(2, T, pid).

loop() ->
    receive {run, From, F} -> From ! {done, catch F()} end,
    loop().

top(K, A) ->
    try chain(K, A) of
        V -> {value, V}
    catch
        C:R -> {C, R}
    end.

chain(value, A) -> [inner({value, A})];
chain(K, A) -> inner({K, A}).

inner({value, X}) -> X;
inner({error, X}) -> erlang:error(X);
inner({error2, X}) -> erlang:error(X, [X]);
inner({exit, X}) -> exit(X);
inner({throw, X}) -> throw(X);
inner({apply, X}) -> apply(id(erlang), id(error), [X]);
inner({badarg, X}) -> [atom_to_list(id(X))];
inner({tail_bif, X}) -> atom_to_list(X);
inner(thrown) -> throw(far);
inner(error) -> error(near).

outer(X) -> [inner(X)].
id(X) -> X.
diverted(A, B) -> {A, B, done}.
breakpoint(M, F, Args) -> {broken, M, F, Args}.
