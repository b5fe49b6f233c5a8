%% process_info, process_flag: all items of oneself and of others in every state.
-module(process_info_more).
-export([main/0, wait/0, deep/1]).
main() ->
    P = spawn(?MODULE, wait, []), timer:sleep(10),
    t:p([process_info(P, I) || I <- [current_function, initial_call, status, message_queue_len, messages, links, dictionary, trap_exit, error_handler, priority, registered_name, monitors, monitored_by, suspending, catchlevel, trace, sequential_trace_token, last_calls, fullsweep_after, message_queue_data, min_heap_size, current_stacktrace]] =/= []),
    show(P, [current_function, initial_call, status, message_queue_len, messages, links, dictionary, trap_exit, error_handler, priority, registered_name, monitors, monitored_by, suspending, trace, sequential_trace_token, last_calls, message_queue_data, parent]),
    P ! {m, 1}, P ! m2, link(P), monitor(process, P), register(pim, P), timer:sleep(5), show(P, [message_queue_len, messages, links, registered_name, monitored_by]), show(P, [[registered_name, message_queue_len], [], [status, status]]),
    erlang:suspend_process(P), show(P, [status]), show(self(), [suspending]), erlang:resume_process(P), show(P, [status]),
    D = spawn(?MODULE, deep, [3]), timer:sleep(10), {current_stacktrace, St} = process_info(D, current_stacktrace), t:p([{M, F, A} || {M, F, A, _} <- St]), {current_location, {M1, F1, A1, L1}} = process_info(D, current_location), t:p({M1, F1, A1, length(L1)}),
    t:p([element(1, X) || X <- process_info(P)]), t:p(lists:sort([K || {K, _} <- process_info(self())])), unlink(P), exit(P, kill), timer:sleep(10), t:p([process_info(P), process_info(P, status), process_info(P, [status])]),
    [t:p(I, t:c(fun() -> process_info(self(), I) end)) || I <- [bad, [bad], 1, [status | a], [status, 1]]], t:pc(fun() -> process_info(t:id(a), status) end), t:pc(fun() -> process_info(t:id(make_ref())) end),
    show(self(), [status, current_function, trap_exit, message_queue_len, registered_name, priority]), t:p([is_integer(element(2, process_info(self(), I))) || I <- [memory, heap_size, total_heap_size, stack_size, reductions, message_queue_len, min_heap_size]]),
    [t:p({F, V}, t:c(fun() -> O = process_flag(F, V), N = process_flag(F, O), {t:plain(O), N} end)) || {F, V} <- [{trap_exit, true}, {priority, low}, {priority, max}, {error_handler, foo}, {min_heap_size, 1000}, {fullsweep_after, 3}, {message_queue_data, off_heap}, {save_calls, 5}, {trap_exit, 1}, {priority, urgent}, {min_heap_size, a}, {nosuch, 1}, {max_heap_size, 1000000}, {sensitive, true}, {min_bin_vheap_size, 50000}]],
    Q = spawn(fun() -> process_flag(sensitive, true), put(secret, 1), receive stop -> ok end end), timer:sleep(5), Q ! hidden, show(Q, [messages, dictionary, message_queue_len]), t:pc(fun() -> process_flag(Q, save_calls, 10) end), t:pc(fun() -> process_flag(Q, trap_exit, true) end).
show(P, Is) -> [t:p(I, t:plain(process_info(P, I))) || I <- Is].
wait() -> put(k, v), receive stop -> ok end.
deep(0) -> receive stop -> ok end;
deep(N) -> [deep(N - 1) | N].
