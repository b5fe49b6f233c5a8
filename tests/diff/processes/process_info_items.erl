%% process_info of items that are stable from run to run.
-module(process_info_items).
-export([main/0]).
main() ->
    S = self(), put(k, v),
    P = spawn_link(fun() -> put(a, 1), receive go -> S ! done, receive stop -> ok end end end), P ! junk, P ! {m, 2}, timer:sleep(10),
    t:p([I || I <- [process_info(P, messages), process_info(P, message_queue_len), process_info(P, dictionary), process_info(P, trap_exit), process_info(P, status), process_info(P, current_function), process_info(P, initial_call), process_info(P, priority), process_info(P, registered_name), process_info(P, error_handler), process_info(P, catchlevel)], I =/= x] =/= []),
    t:p(process_info(P, [messages, message_queue_len, dictionary, trap_exit, status, priority, registered_name, error_handler, suspending, binary, monitors, monitored_by, message_queue_data])),
    t:p(process_info(P, links) =:= {links, [S]}), t:p(process_info(P, group_leader) =:= {group_leader, group_leader()}), t:p(element(1, element(2, process_info(P, current_function)))), t:p(process_info(P, initial_call)), t:p(process_info(P, parent) =:= {parent, S}),
    M = monitor(process, P), t:p(process_info(P, monitored_by) =:= {monitored_by, [S]}), t:p(process_info(S, monitors) =:= {monitors, [{process, P}]}), demonitor(M),
    t:p([element(1, X) || X <- process_info(P), element(1, X) =/= x]), t:p([is_integer(element(2, process_info(P, I))) || I <- [memory, heap_size, total_heap_size, stack_size, reductions, min_heap_size, min_bin_vheap_size]]),
    P ! go, receive done -> ok end, t:p(process_info(P, messages)), unlink(P), exit(P, kill), timer:sleep(10), t:p(process_info(P)), t:p(process_info(P, messages)), t:p(is_process_alive(P)), t:p(is_process_alive(S)), t:p(process_info(S, current_function)), t:pc(fun() -> process_info(S, t:id(bad)) end), t:pc(fun() -> process_info(t:id(a)) end), t:pc(fun() -> is_process_alive(t:id(a)) end), t:pc(fun() -> process_info(S, t:id({dictionary, k})) end).
