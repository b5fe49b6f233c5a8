%% Microstate accounting: what its answers look like, and that the time adds up.
-module(msacc_states).
-export([main/0]).

main() ->
    show(off, [erlang:system_flag(microstate_accounting, false), sum()]),
    show(on, erlang:system_flag(microstate_accounting, true)),
    busy(erlang:monotonic_time(millisecond) + 150),
    [erlang:garbage_collect() || _ <- lists:seq(1, 50)],
    timer:sleep(150),
    On = erlang:statistics(microstate_accounting),
    show(on, erlang:system_flag(microstate_accounting, true)),
    show(keys, lists:usort([lists:sort(maps:keys(M)) || M <- On])),
    show(states, lists:usort([lists:sort(maps:keys(C)) || #{counters := C} <- On])),
    Schedulers = [C || #{type := scheduler, counters := C} <- On],
    show(schedulers, length(Schedulers) =:= erlang:system_info(schedulers)),
    show(ids, lists:sort([I || #{type := scheduler, id := I} <- On])
              =:= lists:seq(1, erlang:system_info(schedulers))),
    Unit = erts_internal:perf_counter_unit(),
    Of = fun(S) -> lists:sum([maps:get(S, C) || C <- Schedulers]) * 1000 div Unit end,
    show(busy, Of(emulator) >= 100),
    show(slept, Of(sleep) >= 100),
    show(collected, lists:sum([maps:get(gc, C) || C <- Schedulers]) > 0),
    %% Each thread's states make up the time, about 300 ms.
    show(all, [T || C <- Schedulers, T <- [lists:sum(maps:values(C)) * 1000 div Unit], T < 250] =:= []),
    show(stop, erlang:system_flag(microstate_accounting, false)),
    show(reset, erlang:system_flag(microstate_accounting, reset)),
    show(zero, sum()),
    show(bad, [try erlang:system_flag(microstate_accounting, X) catch C:R -> {C, R} end
               || X <- [foo, 1, undefined]]).

sum() ->
    lists:sum([lists:sum(maps:values(C)) || #{counters := C} <- erlang:statistics(microstate_accounting)]).
busy(End) -> case erlang:monotonic_time(millisecond) < End of true -> busy(End); false -> ok end.
show(K, V) -> io:format("~p ~0p~n", [K, V]).
