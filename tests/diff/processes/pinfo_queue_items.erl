%% process_info of others: items of waiting, dead, suspended, linked, busy and hibernating processes.
-module(pinfo_queue_items).
-export([main/0]).
main() ->
    S = self(), P = spawn(fun() -> register(pi_name, self()), put(k, v), link(S),
    process_flag(trap_exit, true), S ! ready,
    receive never -> ok end end),
    receive ready -> ok end, monitor(process, P), P ! m1, P ! {m, 2}, timer:sleep(5), I = fun(X) -> t:plain(process_info(P, X)) end, [t:p(X, I(X)) || X <- [registered_name, messages, message_queue_len, dictionary, links, monitored_by, monitors, trap_exit, priority, status, current_function, initial_call, group_leader, error_handler, catchlevel, last_calls, suspending, message_queue_data, parent, fullsweep_after]], [t:pc(X, fun() -> I(X) end) || X <- [bad, {dictionary, k}, [messages, bad], [], [status, status, registered_name], [[]], "x", [messages | x]]],
    t:p([case process_info(P, X) of {X, V} when is_integer(V), V >= 0 -> {X, int}; {X, V} -> {X, t:plain(V)}; V -> V end || X <- [heap_size, total_heap_size, stack_size, memory, reductions, min_heap_size, min_bin_vheap_size]]),
    t:p(lists:sort([K || {K, _} <- process_info(P)])),
    t:p([K || {K, _} <- process_info(P, [status, links, registered_name, heap_size])]), {garbage_collection, G} = process_info(P, garbage_collection),
    t:p([K || {K, _} <- G]), {garbage_collection_info, G2} = process_info(P, garbage_collection_info),
    t:p([K || {K, V} <- G2, is_integer(V)]), {max_heap_size, MH} = process_info(P, max_heap_size),
    t:p(MH), {backtrace, B} = process_info(P, backtrace),
    t:p(is_binary(B)), {current_stacktrace, St} = process_info(P, current_stacktrace),
    t:p([{M, F, A} || {M, F, A, _} <- St]), {current_location, {M1, F1, A1, L1}} = process_info(P, current_location),
    t:p({M1, F1, A1, [K || {K, _} <- L1]}), {binary, Bi} = process_info(P, binary),
    t:p(is_list(Bi)), erlang:suspend_process(P),
    t:p([I(status), t:plain(process_info(S, suspending))]), erlang:resume_process(P), unregister(pi_name),
    t:p([I(registered_name), process_info(P, [registered_name])]), unlink(P), exit(P, kill), wait(P),
    t:p([process_info(P), process_info(P, status), process_info(P, [status]), process_info(P, registered_name)]),
    t:pc(fun() -> process_info(a) end), H = spawn(fun() -> erlang:hibernate(?MODULE, woken, []) end), timer:sleep(10),
    t:p([t:plain(process_info(H, X)) || X <- [status, current_function, message_queue_len, current_stacktrace]]), exit(H, kill),
    t:p(element(1, process_info(self(), current_function))),
    t:p(process_info(self(), status)),
    t:p(element(2, process_info(self(), current_function))).
wait(P) -> case is_process_alive(P) of true -> wait(P); false -> ok end.
