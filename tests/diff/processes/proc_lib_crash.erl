%% proc_lib: starting, failing to start, dying before the acknowledgement, time-out.
-module(proc_lib_crash).
-export([main/0]).
-export([good/1, bad/1, dies/1, exits/1, silent/1, normal/1]).
main() ->
    process_flag(trap_exit, true), [t:p(N, t:c(fun() -> proc_lib:F(?MODULE, N, [self()], 200) end)) || F <- [start, start_link], N <- [good, bad, dies, exits, silent, normal]], t:p(lists:sort([case X of {'EXIT', _, R} -> {exit, case R of {E, [_ | _]} -> E; _ -> R end}; _ -> X end || X <- t:flush()])),
    t:p(t:c(fun() -> proc_lib:start_monitor(?MODULE, good, [self()], 200) end)), t:p(t:c(fun() -> {E, R} = proc_lib:start_monitor(?MODULE, dies, [self()], 200), receive {'DOWN', R, _, _, _} -> {E, down} end end)), P = proc_lib:spawn(fun() -> receive stop -> ok end end), t:p(proc_lib:initial_call(P)), t:p(proc_lib:translate_initial_call(P)), P ! stop.
good(_) -> proc_lib:init_ack({ok, self()}), receive after 20 -> ok end.
bad(_) -> proc_lib:init_ack({error, bad}).
dies(_) -> error(died).
exits(_) -> exit(quit).
silent(_) -> receive after 1000 -> ok end.
normal(_) -> ok.
