%% Patterns for messages and for modules to come, flags that are handed on, call_time, system_monitor.
-module(trace_patterns).
-export([main/0, work/1]).

main() ->
    messages(),
    received(),
    links(),
    on_load(),
    times(),
    kinds(),
    settings(),
    monitor_options(),
    names_and_exits().

messages() ->
    io:format("messages~n"),
    P = spawn_link(fun loop/0),
    1 = erlang:trace(P, true, [send]),
    Me = self(),
    [begin
         io:format(" ~p~n", [catch_it(fun() -> erlang:trace_pattern(send, Pat, []) end)]),
         io:format(" ~p~n", [erlang:trace_info(send, match_spec)]),
         run(P, fun() -> Me ! hello, nobody_here ! there end, [P])
     end || Pat <- [true, [{['_', hello], [], []}], [{['_', '$1'], [{is_atom, '$1'}], [{message, {{'$1'}}}]}],
                    [{['_', '_'], [], [{message, false}]}], [{['_', '_'], [], [{caller}]}], false,
                    [{['_', '_'], [], [{return_trace}]}]]],
    erlang:trace_pattern(send, true, []),
    [io:format(" ~p~n", [catch_it(fun() -> erlang:trace_pattern(send, true, [F]) end)]) ||
        F <- [local, global, meta, call_count]],
    1 = erlang:trace(P, false, [all]).

received() ->
    io:format("received~n"),
    P = spawn_link(fun loop/0),
    1 = erlang:trace(P, true, ['receive']),
    Me = self(),
    [begin
         io:format(" ~p~n", [catch_it(fun() -> erlang:trace_pattern('receive', Pat, []) end)]),
         P ! one,
         spawn(fun() -> P ! one end),
         show([P])
     end || Pat <- [true, [{[node(), Me, one], [], []}], [{['_', '$1', '_'], [{'=/=', '$1', Me}], []}],
                    [{'_', [], [{message, 17}]}], [{'_', [], [{silent, true}]}], false]],
    erlang:trace_pattern('receive', true, []),
    1 = erlang:trace(P, false, [all]).

links() ->
    io:format("links~n"),
    Idle = fun() -> receive stop -> ok end end,
    [begin
         P = spawn(fun loop/0),
         [A, B] = [spawn(Idle), spawn(Idle)],
         1 = erlang:trace(P, true, [send, Flag]),
         P ! {run, self(), fun() -> link(A), link(B) end},
         receive done -> ok end,
         P ! {run, self(), fun() -> [spawn_link(Idle), spawn_link(Idle)] end},
         receive done -> ok end,
         {links, L} = process_info(P, links),
         t:await(fun() -> [{links, [P]}] =:= lists:usort([process_info(X, links) || X <- [A, B]]) end),
         io:format(" ~p~n", [[lists:sort(element(2, erlang:trace_info(X, flags))) || X <- [P, A, B]]]),
         io:format(" ~p~n", [lists:sort([length(element(2, erlang:trace_info(X, flags))) || X <- L])]),
         exit(P, kill),
         show([])
     end || Flag <- [set_on_link, set_on_first_link, set_on_spawn, set_on_first_spawn]].

on_load() ->
    io:format("on_load~n"),
    Forms = [{attribute, 1, module, trace_made}, {attribute, 1, export, [{f, 1}]},
             {function, 1, f, 1, [{clause, 1, [{var, 1, 'X'}], [], [{call, 1, {atom, 1, g}, [{var, 1, 'X'}]}]}]},
             {function, 1, g, 1, [{clause, 1, [{var, 1, 'X'}], [], [{tuple, 1, [{var, 1, 'X'}]}]}]}],
    {ok, M, Code} = compile:forms(Forms, [no_inline]),
    Load = fun() -> code:purge(M), {module, M} = code:load_binary(M, "trace_made", Code) end,
    [begin
         io:format(" ~p~n", [catch_it(fun() -> erlang:trace_pattern(on_load, Spec, Flags) end)]),
         io:format(" ~p~n", [[erlang:trace_info(on_load, I) || I <- [traced, match_spec, meta_match_spec, call_count]]]),
         Load(),
         io:format(" ~p~n", [[erlang:trace_info({M, F, 1}, I) || F <- [f, g], I <- [traced, match_spec, call_count]]])
     end || {Spec, Flags} <- [{true, []}, {true, [local]}, {[{'_', [], [{return_trace}]}], [local]}, {true, [call_count]},
                              {false, [local]}, {false, [call_count]}, {false, []}]],
    erlang:trace_pattern({M, '_', '_'}, true, [local]),
    Load(),
    io:format(" ~p~n", [erlang:trace_info({M, f, 1}, traced)]).

times() ->
    io:format("times~n"),
    P = spawn_link(fun loop/0),
    1 = erlang:trace(P, true, [call]),
    Times = fun() ->
                    case erlang:trace_info({?MODULE, work, 1}, call_time) of
                        {call_time, L} when is_list(L) ->
                            [{X =:= P, C, S, is_integer(Us)} || {X, C, S, Us} <- L];
                        Other -> Other
                    end
            end,
    [begin
         io:format(" ~p ~p~n", [How, erlang:trace_pattern({?MODULE, work, 1}, How, [call_time, call_count])]),
         run(P, fun() -> work(100) end, []),
         work(3),
         io:format(" ~p ~p~n", [Times(), erlang:trace_info({?MODULE, work, 1}, call_count)])
     end || How <- [restart, true, true, pause, restart, false, pause]],
    1 = erlang:trace(P, false, [all]).

kinds() ->
    io:format("kinds~n"),
    [begin
         N = catch_it(fun() -> erlang:trace_pattern({?MODULE, work, 1}, Spec, Flags) end),
         io:format(" ~p ~p ~p~n  ~p~n", [Spec, Flags, N,
                   [case erlang:trace_info({?MODULE, work, 1}, I) of
                        {I, P} when is_pid(P) -> {I, P =:= self()};
                        T -> T
                    end || I <- [traced, match_spec, meta, meta_match_spec, call_count]]])
     end || {Spec, Flags} <- [{true, [local]}, {true, [global]}, {false, [local]}, {true, [meta, call_count]}, {true, [local]},
                              {false, [global]}, {false, [meta]}, {[{'_', [], []}], [call_count]}, {[{'_', [], []}], [global]},
                              {false, []}, {false, [local, meta, call_count, call_time]}, {nonsense, []},
                              {[{'_', [{nonsense}], []}], []}, {true, [local, global]}, {pause, [local]}, {restart, []}]],
    erlang:trace_pattern({?MODULE, work, 1}, false, []).

settings() ->
    io:format("settings~n"),
    P = spawn_link(fun loop/0),
    1 = erlang:trace(P, true, [all]),
    io:format(" ~p~n", [erlang:trace_info(P, flags)]),
    1 = erlang:trace(P, false, [all]),
    io:format(" ~p~n", [erlang:trace_info(P, flags)]),
    1 = erlang:trace(self(), true, [send]),
    self() ! nobody_is_told,
    io:format(" ~p~n", [erlang:trace_info(self(), flags)]),
    1 = erlang:trace(self(), false, [send]),
    T = spawn(fun loop/0),
    0 = erlang:trace(new, true, [send, {tracer, T}]),
    io:format(" ~p ~p~n", [erlang:trace_info(new, flags), erlang:trace_info(new, tracer) =:= {tracer, T}]),
    1 = erlang:trace(P, true, [send, {tracer, T}]),
    io:format(" ~p~n", [catch_it(fun() -> erlang:trace(P, true, [send]) end)]),
    exit(T, kill),
    timer:sleep(20),
    io:format(" ~p ~p~n", [erlang:trace_info(new, flags), erlang:trace_info(new, tracer)]),
    io:format(" ~p ~p~n", [erlang:trace_info(P, flags), erlang:trace_info(P, tracer)]),
    io:format(" ~p~n", [[catch_it(fun() -> erlang:trace(A, B, C) end) ||
                            {A, B, C} <- [{P, true, [nonsense]}, {P, maybe_so, [send]}, {some, true, [send]},
                                          {P, true, send}, {P, true, [{tracer, T}]}, {P, true, [cpu_timestamp]}]]]),
    1 = erlang:trace(P, true, [send, scheduler_id, monotonic_timestamp]),
    Me = self(),
    P ! {run, self(), fun() -> Me ! it end},
    receive {trace_ts, P, send, it, Me, Id, Ts} -> io:format(" ~p~n", [{is_integer(Id), is_integer(Ts)}]) end,
    1 = erlang:trace(P, false, [all]),
    show([]).

monitor_options() ->
    io:format("monitor~n"),
    undefined = erlang:system_monitor(),
    Me = self(),
    undefined = erlang:system_monitor(Me, [{long_gc, 0}, {large_heap, 1}, busy_port]),
    {Me, L} = erlang:system_monitor({Me, [{large_heap, 100000}]}),
    io:format(" ~p~n", [L]),
    {P, R} = spawn_opt(fun() -> garbage_collect() end, [monitor, {min_heap_size, 200000}]),
    receive {'DOWN', R, process, P, normal} -> ok end,
    receive {monitor, P, large_heap, Sizes} -> io:format(" ~p~n", [[K || {K, V} <- Sizes, is_integer(V)]]) end,
    {Me, [{large_heap, 100000}]} = erlang:system_monitor(undefined),
    io:format(" ~p~n", [[catch_it(fun() -> erlang:system_monitor(A, B) end) ||
                            {A, B} <- [{x, [busy_port]}, {Me, [x]}, {Me, x}, {Me, [{long_gc, -1}]}, {undefined, []}]]]).

names_and_exits() ->
    io:format("lives~n"),
    P = spawn(fun loop/0),
    1 = erlang:trace(P, true, [procs, running, exiting]),
    true = register(trace_name, P),
    true = unregister(trace_name),
    true = register(trace_name, P),
    show([P]),
    exit(P, gone),
    show([P]),
    Q = spawn(fun loop/0),
    1 = erlang:trace(Q, true, [garbage_collection]),
    run(Q, fun() -> erlang:garbage_collect() end, []),
    Q ! {run, self(), fun() -> erlang:garbage_collect() end},
    T = receive X when element(1, X) =:= trace -> X end,
    io:format(" ~p ~p~n", [element(3, T), [K || {K, V} <- element(4, T), is_integer(V)]]),
    1 = erlang:trace(Q, false, [all]).

work(0) -> ok;
work(N) -> work(N - 1).

run(P, F, Shown) ->
    P ! {run, self(), F},
    receive done -> ok end,
    show(Shown).

show(Pids) ->
    receive
        T when element(1, T) =:= trace ->
            [io:format("  ~p~n", [plain(T)]) || lists:member(element(2, T), Pids)],
            show(Pids);
        _ -> show(Pids)
    after 60 -> ok
    end.
plain(T) -> list_to_tuple([case X of X when is_pid(X) -> pid; {run, _, _} -> run; _ -> X end || X <- tuple_to_list(T)]).

loop() ->
    receive
        {run, From, F} -> catch F(), From ! done, loop();
        _ -> loop()
    end.

catch_it(F) ->
    try F() catch C:R -> {C, R} end.
