%% process_info of oneself and of one that runs, waits in calls, or is exiting.
-module(sig_process_info_more_2).
-export([main/0]).
main() ->
    t:p([element(2, process_info(self(), X)) || X <- [status, message_queue_len, messages, trap_exit, group_leader, current_function]]), {current_stacktrace, St} = process_info(self(), current_stacktrace), t:p([{M, F, A} || {M, F, A, _} <- St, M =/= init]),
    P = spawn(fun() -> outer(3) end), timer:sleep(5), {current_stacktrace, S2} = process_info(P, current_stacktrace), t:p([{M, F, A} || {M, F, A, _} <- S2]), t:p(process_info(P, current_function)), {current_location, {M1, F1, A1, _}} = process_info(P, current_location), t:p({M1, F1, A1}), exit(P, kill),
    Q = spawn(fun Loop() -> Loop() end), timer:sleep(5), t:p(element(1, element(2, process_info(Q, current_function)))), t:p(lists:member(element(2, process_info(Q, status)), [running, runnable])), exit(Q, kill), [t:p(is_integer(element(2, process_info(self(), X)))) || X <- [memory, reductions, heap_size, stack_size, total_heap_size]].
outer(0) -> receive never -> ok end; outer(N) -> [N | outer(N - 1)].
