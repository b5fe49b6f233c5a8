%% Every flag of process_flag with good and bad values.
-module(mx_process_flags).
-export([main/0]).
main() ->
    Fs = [trap_exit, error_handler, fullsweep_after, min_heap_size, min_bin_vheap_size, max_heap_size, message_queue_data, priority, save_calls, sensitive, bad],
    Vs = [true, false, 0, 5, 1000, -1, 1 bsl 70, a, low, normal, high, on_heap, off_heap, #{size => 0}, #{size => 100000, kill => false}, #{kill => true}, #{size => -1}, #{size => 5000000, bad => 1}, mixed, "x"],
    [spawn_monitor(fun() -> [begin m:outcome(erlang, process_flag, [F, G]), ok end || G <- []], t:p(F, [{V, m:outcome(erlang, process_flag, [F, V])} || V <- Vs, {F, V} =/= {sensitive, true}, {F, V} =/= {error_handler, a}, {F, V} =/= {min_heap_size, 1 bsl 70}, {F, V} =/= {max_heap_size, 1000}]) end) =/= a andalso receive {'DOWN', _, _, _, W} -> t:p(W) end || F <- Fs],
    m:f(erlang, process_flag, [[self(), a, c:pid(0, 30000, 0)], [save_calls, bad], [0, 5, -1, a]]).
