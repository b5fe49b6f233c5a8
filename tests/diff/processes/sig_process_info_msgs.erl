%% process_info of messages, dictionary, binaries while they change.
-module(sig_process_info_msgs).
-export([main/0]).
main() ->
    P = spawn(fun() -> put(a, 1), receive {stop, X} -> X end end), [P ! M || M <- [1, {two, self()}, "three", <<4:300>>, #{five => 5.0}]], timer:sleep(5),
    [t:p(process_info(P, I)) || I <- [messages, message_queue_len, dictionary, status, current_function, initial_call, links, monitors, monitored_by, trap_exit, error_handler, priority, suspending, sequential_trace_token, catchlevel, min_heap_size, min_bin_vheap_size, parent]],
    t:p([element(1, X) || X <- process_info(P)]), t:p(process_info(P, [])), t:p(process_info(P, [status, status, message_queue_len])), t:p(process_info(P, registered_name)), t:p(process_info(P, [registered_name])), [t:p(m:outcome(erlang, process_info, [P, I])) || I <- [bad, [bad], [status, bad], [status | x], 1, "abc"]], exit(P, kill), timer:sleep(2), t:p(process_info(P, messages)), t:p(process_info(P, [messages])).
