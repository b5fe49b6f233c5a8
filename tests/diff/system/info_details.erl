%% Some of erlang:system_info/1 that few ask for, and the memory of counters.
-module(info_details).
-export([main/0]).

main() ->
    [t:p(S, lists:keydelete(time, 1, erlang:system_info(S))) || S <- [os_monotonic_time_source, os_system_time_source]],
    t:p(erlang:system_info(literal_test)),
    %% A cache line for every eight counters of a scheduler, and one more of each.
    Threads = erlang:system_info(schedulers) + 1,
    [begin
         #{memory := Bytes, size := N} = counters:info(counters:new(N, [write_concurrency])),
         t:p({N, Bytes - (N + 7) div 8 * 64 * Threads})
     end || N <- [1, 7, 8, 9, 16, 17, 1000]],
    [t:p({N, counters:info(counters:new(N, [])), atomics:info(atomics:new(N, []))}) || N <- [1, 8, 1000]].
