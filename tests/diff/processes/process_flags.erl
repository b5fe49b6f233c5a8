%% process_flag: old values, bad values, max_heap_size, priority.
-module(process_flags).
-export([main/0]).
main() ->
    t:p([{F, process_flag(F, V), process_flag(F, V)} || {F, V} <- [{trap_exit, true}, {priority, high}, {min_heap_size, 500}, {min_bin_vheap_size, 50000}, {fullsweep_after, 10}, {message_queue_data, off_heap}, {sensitive, false}, {save_calls, 10}, {error_handler, error_handler}]] =/= []),
    t:p([process_flag(priority, P) || P <- [low, normal, high, normal]]), t:p([process_flag(trap_exit, B) || B <- [false, true, false]]), t:p([process_flag(message_queue_data, B) || B <- [on_heap, off_heap, on_heap]]),
    t:p([process_flag(fullsweep_after, B) || B <- [0, 5, 65535]]), t:p(process_flag(error_handler, error_handler)), t:p(process_flag(save_calls, 0)),
    [t:pc({F, V}, fun() -> process_flag(F, V) end) || {F, V} <- [{trap_exit, 1}, {priority, x}, {min_heap_size, -1}, {nope, 1}, {message_queue_data, z}, {fullsweep_after, a}, {max_heap_size, a}, {error_handler, 1}, {save_calls, 10001}]],
    {P, M} = spawn_opt(fun() -> logger:set_primary_config(level, none), grow([]) end, [monitor, {max_heap_size, #{size => 50000, kill => true, error_logger => false}}]), t:p(receive {'DOWN', M, _, P, R} -> R end),
    t:p(element(2, process_info(self(), trap_exit))), t:p(process_flag(self(), save_calls, 0)).
grow(L) -> grow([length(L) | L]).
