%% An exit signal arriving while a process waits, runs, is suspended, or traps.
-module(sig_exit_matrix_2).
-export([main/0]).
main() -> [t:p({S, R}, one(S, R)) || S <- [waiting, running, suspended, trapping, hibernating], R <- [normal, kill, shutdown, boom]].
one(State, Reason) ->
    P = spawn(fun() -> body(State) end), timer:sleep(5),
    State =:= suspended andalso erlang:suspend_process(P), M = monitor(process, P), exit(P, Reason),
    State =:= suspended andalso (catch erlang:resume_process(P)),
    receive {'DOWN', M, process, P, Why} -> Why after 60 -> Info = is_process_alive(P), exit(P, kill), receive {'DOWN', M, _, _, W} -> {alive, Info, W} end end.
body(trapping) -> process_flag(trap_exit, true), receive {'EXIT', _, R} -> exit({got, R}) end;
body(running) -> loop(0); body(hibernating) -> erlang:hibernate(erlang, exit, [woken]); body(_) -> receive never -> ok end.
loop(N) -> loop(N + 1).
