%% What an uncaught exception becomes as an exit reason, with its stack.
-module(exit_reasons).
-export([main/0]).
main() ->
    logger:set_primary_config(level, none), process_flag(trap_exit, true),
    [begin {P, M} = spawn_monitor(F), t:p(receive {'DOWN', M, process, P, R} -> show(R) end) end || F <- [fun() -> a() end, fun() -> b(1) end, fun() -> throw(ball) end, fun() -> exit({shutdown, x}) end, fun() -> error(e, [1]) end, fun() -> nomod:nofun(1) end, fun() -> erlang:raise(error, r, [{m, f, 1, []}]) end, fun() -> gen_server:call(nobody, hi) end, fun() -> exit(self(), kill), receive x -> y end end]],
    {P1, M1} = spawn_monitor(nomod, nofun, [1, 2]), t:p(receive {'DOWN', M1, process, P1, R1} -> show(R1) end), {P2, M2} = spawn_monitor(?MODULE, main, [x]), t:p(receive {'DOWN', M2, process, P2, R2} -> show(R2) end),
    P3 = proc_lib:spawn_link(fun() -> exit(from_proc_lib) end), t:p(receive {'EXIT', P3, R3} -> R3 end), t:p(proc_lib:start_link(proc_lib, init_p, [self(), [], fun() -> exit(early) end])), t:p(proc_lib:initial_call(P3)).
a() -> hd(t:id([])), ok.
b(X) -> {X, c(t:id(a))}.
c(1) -> x.
show({R, S}) when is_list(S) -> {R, t:plain([{Mo, F, A, [L || {line, L} <- I, Mo =:= ?MODULE]} || {Mo, F, A, I} <- S, Mo =/= proc_lib, Mo =/= gen_server, Mo =/= gen])}; show(R) -> R.
