%% Where the arguments that a function takes end: the largest, those that are none, and those that are
%% judged in a certain order.
-module(manual_edges).
-export([main/0]).

main() ->
    timers(),
    [t:p({args, N}, [reason(fun() -> F(lists:duplicate(N, x)) end) || F <- applied()]) || N <- [255, 256, 300, 1022, 1023, 1024, 5000]],
    [t:p({improper, N}, [reason(fun() -> F(lists:duplicate(N, x) ++ tail) end) || F <- applied()]) || N <- [0, 255, 256, 300, 1022]],
    t:each(fun({F, V}) -> process_flag(F, V), V1 = process_flag(F, 65535), {V1, process_flag(F, 65535)} end,
           [{fullsweep_after, V} || V <- [0, 65535, 65536, 65537, 1 bsl 40]]),
    t:each(fun(O) -> st(fun() -> process_flag({monitor_nodes, O}, false) end) end, [[], x, [x], #{x => 1}]),
    t:each(fun({F, V}) -> erlang:system_flag(F, V) end,
           [{F, V} || F <- [backtrace_depth, fullsweep_after, min_heap_size, min_bin_vheap_size, trace_control_word], V <- [1 bsl 59, (1 bsl 63) - 1, -1]]
           ++ [{scheduler_bind_type, V} || V <- [a, true, [], unbound]]),
    _ = erlang:system_flag(backtrace_depth, 8),
    t:p(erlang:system_info(ets_realloc_moves)),
    [t:p({I, K}, t:c(fun() -> erlang:trace_info(W, K) end)) ||
        {I, W} <- [{self, self()}, {dead, dead()}, {new, new}, {on_load, on_load}, {is, {lists, map, 2}}, {is_not, {lists, map, 9}}, {no_module, {none, f, 1}}],
        K <- [flags, tracer, traced, match_spec, meta, meta_match_spec, call_count, call_time, call_memory, all, x, 1]],
    erlang:trace_pattern({lists, map, 2}, true, [local]),
    [t:p({traced, K}, t:c(fun() -> erlang:trace_info({lists, map, 2}, K) end)) || K <- [flags, traced, match_spec, meta, call_count, call_memory, all, x, 1]],
    erlang:trace_pattern({lists, map, 2}, false, [local]),
    t:each(fun(T) -> garbage_collect(dead_or_alive(T), [{type, T}]) end, [major, minor, x, 1]),
    t:each(fun erlang:bump_reductions/1, [0, 1, -1, 1 bsl 40, 1 bsl 59, 1 bsl 63, a]),
    t:each(fun(N) -> erlang:crc32_combine(1, 2, N) end, [1, (1 bsl 32) - 1, 1 bsl 32, 1 bsl 70, -1]),
    t:each(fun erlang:dt_restore_tag/1, [true, false, 0, x]),
    t:each(fun({D, O}) -> forced(D, O) end, [{D, O} || D <- ["x", a, [a], [300]], O <- [[], [force], [nosuspend, force], [x]]]),
    sizes(42),
    Ports = [open_port({spawn, "cat"}, []) || _ <- [1, 2, 3]],
    t:p(erlang:system_info(port_count) - length(erlang:ports())),
    [port_close(P) || P <- Ports],
    %% In UTC the last second before 1970 is the number that C's mktime answers for what is no time.
    t:each(fun(L) -> erlang:universaltime_to_localtime(erlang:localtime_to_universaltime(L)) =:= L end, [{{1969, 12, 31}, {23, 59, S}} || S <- [58, 59, 60]] ++ [{{1970, 1, 1}, {0, 0, 0}}]),
    t:each(fun({D, N}) -> erl_ddll:try_load(D, N, []) end, [{a, none}, {a, "none"}, {"/none", 1}, {"/none", [<<"x">> | y]}]),
    t:each(fun(N) -> erl_ddll:try_unload(N, []) end, [none, "none", <<"none">>, ["no", [<<"n">>], $e], [none], 1, [$n, 300]]).

%% The last deadline there is, in both forms. A relative time that is near to it depends on the time.
timers() ->
    Ms = fun(I) -> erlang:convert_time_unit(erlang:system_info(I), native, millisecond) end,
    {First, Last} = {Ms(start_time), Ms(end_time)},
    Set = fun(F, T, O) -> is_reference(erlang:F(T, self(), x, O)) end,
    [t:p({F, W, D}, t:c(fun() -> Set(F, T + D, [{abs, true}]) end)) ||
        F <- [send_after, start_timer], {W, T} <- [{first, First}, {last, Last}], D <- [-1, 0, 1], {W, D} =/= {first, 0}, {W, D} =/= {first, 1}],
    Left = Last - erlang:monotonic_time(millisecond),
    t:each(fun({F, _, T}) -> Set(F, T, []) end,
           [{F, W, T} || F <- [send_after, start_timer], {W, T} <- [{less, 8646911284600}, {long, 1 bsl 42}, {more, 1 bsl 43}, {most, (1 bsl 63) - 1}, {big, 1 bsl 64}, {bigger, 1 bsl 70}, {none, -1}]]),
    t:p([t:c(fun() -> Set(send_after, Left + D, []) end) || D <- [-60000, 60000]]).

applied() ->
    [fun(L) -> apply(t:id(none), t:id(f), L) end,
     fun(L) -> apply(erlang, t:id(apply), [none, f, L]) end,
     fun(L) -> apply(t:id(fun none:f/2), L) end,
     fun(L) -> apply(t:id(fun(X) -> X end), L) end,
     fun(L) -> apply(t:id(no_fun), L) end,
     fun(L) -> apply(t:id(1), t:id(f), L) end,
     fun(L) -> {P, R} = spawn_monitor(t:id(none), t:id(f), L), receive {'DOWN', R, process, P, W} -> exit(W) end end].

%% What was raised and where, with numbers for lists of arguments.
reason(F) ->
    try F() of V -> V
    catch
        exit:{E, [{M, N, A, _} | _]} -> {exit, E, {M, N, count(A)}};
        C:E:Stack ->
            {M, N, A, _} = hd(Stack),
            {C, short(E), if M =:= ?MODULE -> here; true -> {M, N, count(A)} end}
    end.
short({badarity, {_, L}}) -> {badarity, length(L)};
short(E) -> E.
count(L) when is_list(L) -> length(L);
count(N) -> N.

st(F) ->
    try F()
    catch C:E:Stack ->
        {M, N, A, I} = hd(Stack),
        {C, E, M, N, count(A), lists:keydelete(line, 1, lists:keydelete(file, 1, I))}
    end.

dead() -> {P, R} = spawn_monitor(fun() -> ok end), receive {'DOWN', R, _, _, _} -> P end.
dead_or_alive(_) -> spawn(fun() -> receive stop -> ok end end).

%% Nothing is read: the end of its output, which the shell sends away, would end the port.
forced(Data, Options) ->
    P = open_port({spawn, "cat >/dev/null"}, [out]),
    Result = t:c(fun() -> port_command(P, Data, Options) end),
    port_close(P),
    Result.

%% An upper bound: that of a fun is higher than what is written.
sizes(A) ->
    Fun = fun(X) -> X + A end,
    t:p([{erlang:external_size(T) - byte_size(term_to_binary(T)), erlang:external_size(T, [{minor_version, V}]) - byte_size(term_to_binary(T, [{minor_version, V}]))} ||
            V <- [0, 1], T <- [Fun, [Fun, Fun], #{Fun => Fun}, fun none:f/0, fun sizes/1, {1.5, Fun}, self()]]).
