%% Which argument of erlang:system_flag/2 is to blame.
-module(system_flag_errors).
-export([main/0]).
main() ->
    [t:p({Flag, try {ok, erlang:system_flag(Flag, Value)} catch C:R:St -> {C, R, element(4, hd(St))} end})
     || {Flag, Value} <- [{F, bad} || F <- [backtrace_depth, cpu_topology, dirty_cpu_schedulers_online, erts_alloc, fullsweep_after,
                             microstate_accounting, min_heap_size, min_bin_vheap_size, max_heap_size, multi_scheduling,
                             scheduler_wall_time, schedulers_online, trace_control_word, time_offset, no_flag,
                             outstanding_system_requests_limit, sequential_tracer]] ++
                        [{1, 1}, {time_offset, 1}, {scheduler_wall_time, 1}, {{a}, b}]].
