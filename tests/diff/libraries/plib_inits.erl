%% proc_lib: init_ack in all forms, synchronous starts that fail, initial calls, stop, hibernate.
-module(plib_inits).
-export([main/0]).
-export([go/2, woken/1]).
main() ->
    process_flag(trap_exit, true), S = self(), [t:p(X, norm(t:c(fun() -> proc_lib:F(?MODULE, go, [X, S], 100) end))) || F <- [start, start_link], X <- [ack, ack_err, die, crash, normal, ignore]],
    t:p(norm(proc_lib:start(?MODULE, go, [never, S], 5))),
    t:p(norm(proc_lib:start_monitor(?MODULE, go, [ack, S], 100))),
    t:p(norm(proc_lib:start_monitor(?MODULE, go, [die, S], 100))),
    t:p([t:plain(M) || M <- fl()]), P = proc_lib:spawn(?MODULE, go, [wait, S]),
    t:p(proc_lib:initial_call(P)),
    t:p(proc_lib:translate_initial_call(P)),
    t:p([proc_lib:initial_call(X) || X <- [[{'$initial_call', {a, b, 1}}], [], [{x, y}]]]),
    t:p(proc_lib:translate_initial_call(whereis(kernel_sup))),
    t:p(proc_lib:translate_initial_call(whereis(init))), P ! hib, timer:sleep(10),
    t:p(process_info(P, current_function)), P ! wake,
    t:p(receive woken -> ok after 500 -> none end),
    t:p(proc_lib:stop(P)),
    t:pc(fun() -> proc_lib:stop(P) end), Q = proc_lib:spawn(?MODULE, go, [wait, S]),
    t:pc(fun() -> proc_lib:stop(Q, why, 500) end), R = spawn(fun() -> receive x -> ok end end),
    t:pc(fun() -> proc_lib:stop(R, normal, 5) end),
    t:p(t:plain(element(2, process_info(proc_lib:spawn_opt(?MODULE, go, [wait, S], [{priority, low}, link]), dictionary)))),
    t:p(length(proc_lib:format([[{initial_call, {m, f, 1}}, {pid, self()}, {registered_name, []}, {error_info, {exit, a, []}}, {ancestors, []}, {message_queue_len, 0}, {messages, []}, {links, []}, {dictionary, []}, {trap_exit, false}, {status, running}, {heap_size, 1}, {stack_size, 1}, {reductions, 1}], []], latin1)) > 100), [t:pc(X, fun() -> apply(proc_lib, spawn, X) end) || X <- [[a], [1, f, []], [m, f, a]]],
    t:pc(fun() -> proc_lib:spawn_opt(fun() -> ok end, [monitor]) end).
norm({{ok, P}, M}) when is_pid(P) -> demonitor(M, [flush]), {{ok, pid}, ref}; norm({R, M}) when is_reference(M) -> {R,
    receive {'DOWN', M, _, _, W} -> W after 100 -> none end}; norm({error, {R, [{_, _, _, _} | _]}}) -> {error, R}; norm(X) -> t:plain(X).
fl() -> receive {'EXIT', P, {R, [_ | _]}} -> [{'EXIT', P, R} | fl()]; M -> [M | fl()] after 5 -> [] end.
go(ack, S) -> proc_lib:init_ack(S, {ok, self()}); go(ack_err, S) -> proc_lib:init_ack(S, {error, nope}), exit(normal); go(die, _) -> exit(died); go(crash, _) -> error(crashed); go(normal, _) -> ok; go(ignore, _) -> proc_lib:init_ack(ignore); go(never, _) -> timer:sleep(1000); go(wait, S) -> receive hib -> proc_lib:hibernate(?MODULE, woken, [S]); {system, F, {terminate, R}} -> gen:reply(F, ok), exit(R) end.
woken(S) -> receive wake -> S ! woken end, go(wait, S).
