%% Call tracing: local and global patterns, match specifications, returns, exceptions, counts.
-module(trace_calls).
-export([main/0, twice/1, fact/1, boom/1, caller/1]).

main() ->
    Me = self(),
    Pid = spawn_link(fun() -> loop() end),
    1 = erlang:trace(Pid, true, [call]),
    show(local, [erlang:trace_pattern({?MODULE, twice, 1}, true, [local])]),
    run(Pid, fun() -> twice(2) end),
    show(ms, [erlang:trace_pattern({?MODULE, fact, 1}, [{['$1'], [{'>', '$1', 1}], [{return_trace}]}], [local])]),
    run(Pid, fun() -> fact(3) end),
    show(info, [erlang:trace_info({?MODULE, fact, 1}, I) || I <- [traced, match_spec, meta, call_count]]),
    show(exception, [erlang:trace_pattern({?MODULE, boom, 1}, [{'_', [], [{exception_trace}]}], [local])]),
    run(Pid, fun() -> catch boom(x) end),
    show(message, [erlang:trace_pattern({?MODULE, twice, 1}, [{['$1'], [], [{message, {{got, '$1'}}}]}], [local])]),
    run(Pid, fun() -> ?MODULE:caller(7) end),
    show(off, [erlang:trace_pattern({?MODULE, '_', '_'}, false, [local]) > 5]),
    run(Pid, fun() -> fact(3), twice(1) end),
    show(global, [erlang:trace_pattern({?MODULE, twice, 1}, true, [global])]),
    run(Pid, fun() -> twice(1), ?MODULE:twice(2), apply(?MODULE, twice, [id(3)]) end),
    show(global_off, [erlang:trace_pattern({?MODULE, twice, 1}, false, [global])]),
    show(count, [erlang:trace_pattern({?MODULE, fact, 1}, true, [call_count])]),
    run(Pid, fun() -> fact(10) end),
    show(count, [erlang:trace_info({?MODULE, fact, 1}, call_count)]),
    erlang:trace_pattern({?MODULE, fact, 1}, false, [call_count]),
    show(meta, [erlang:trace_pattern({?MODULE, twice, 1}, [{'_', [], [{return_trace}]}], [{meta, Me}])]),
    run(spawn_link(fun() -> loop() end), fun() -> twice(5) end),
    erlang:trace_pattern({?MODULE, twice, 1}, false, [meta]),
    show(bif, [erlang:trace_pattern({erlang, atom_to_list, 1}, true, [local])]),
    run(Pid, fun() -> F = id(fun erlang:atom_to_list/1), F(abc) end),
    erlang:trace_pattern({erlang, atom_to_list, 1}, false, [local]),
    show(return_to, [erlang:trace(Pid, true, [call, return_to, arity]), erlang:trace_pattern({?MODULE, twice, 1}, true, [local])]),
    run(Pid, fun() -> ?MODULE:caller(1) end),
    show(flags, [begin {flags, L} = erlang:trace_info(Pid, flags), lists:sort(L) end]),
    show(bad, [catch_it(fun() -> erlang:trace_pattern({?MODULE, '_', 1}, true, [local]) end),
               catch_it(fun() -> erlang:trace(Pid, true, [nonsense]) end),
               catch_it(fun() -> erlang:trace_pattern({?MODULE, twice, 1}, true, [local, global]) end)]),
    1 = erlang:trace(Pid, false, [all]),
    show(none, [erlang:trace_info(Pid, flags), erlang:trace_info({?MODULE, none, 0}, traced)]),
    ok.

catch_it(F) ->
    try F() catch C:R -> {C, R} end.

show(What, L) -> io:format("~p ~p~n", [What, L]).

run(Pid, F) ->
    R = make_ref(),
    Pid ! {run, self(), R, F},
    receive {R, done} -> ok end,
    drain(Pid).

drain(Pid) ->
    receive
        T when element(1, T) =:= trace; element(1, T) =:= trace_ts ->
            io:format("  ~p~n", [[case X of Pid -> pid; {_, _, _} = Now when is_integer(element(1, Now)) -> time; _ -> X end || X <- tuple_to_list(T)]]),
            drain(Pid)
    after 100 -> ok
    end.

loop() ->
    receive {run, From, R, F} -> F(), From ! {R, done} end,
    loop().

id(X) -> X.
twice(N) -> id(N * 2).
fact(0) -> 1;
fact(N) -> N * fact(N - 1).
boom(X) -> error({boom, id(X)}).
caller(N) -> X = twice(N), X + 1.
