%% monitor, demonitor and its options, DOWN of names and of the dead.
-module(monitors).
-export([main/0]).
main() ->
    W = fun() -> receive {exit, R} -> exit(R) end end,
    [begin {P, M} = spawn_monitor(W), P ! {exit, R}, t:p(receive {'DOWN', M, process, P, R2} -> R2 end) end || R <- [normal, kill, {x, 1}]],
    P1 = spawn(W), M1 = monitor(process, P1), t:p(demonitor(M1)), t:p(demonitor(M1)), t:p(demonitor(M1, [info])), exit(P1, kill), t:p(receive {'DOWN', M1, _, _, _} -> bad after 20 -> none end),
    P2 = spawn(W), M2 = monitor(process, P2), exit(P2, kill), timer:sleep(20), t:p(demonitor(M2, [flush, info])), t:p(t:flush()),
    P3 = spawn(W), M3 = monitor(process, P3), t:p(demonitor(M3, [info])), M4 = monitor(process, P1), t:p(receive {'DOWN', M4, process, P1, R4} -> R4 end),
    true = register(mon_name, P3), M5 = monitor(process, mon_name), exit(P3, gone), N = node(), t:p(receive {'DOWN', M5, process, {mon_name, N}, R5} -> R5 end),
    M6 = monitor(process, no_such_name), t:p(receive {'DOWN', M6, process, {no_such_name, N}, R6} -> R6 end), M7 = monitor(process, {no_such_name, N}), t:p(receive {'DOWN', M7, process, _, R7} -> R7 end),
    M8 = monitor(process, self()), t:p(demonitor(M8, [info])), t:pc(fun() -> monitor(t:id(bad), self()) end), t:pc(fun() -> demonitor(t:id(a)) end), t:pc(fun() -> demonitor(make_ref()) end), t:pc(fun() -> demonitor(M8, [t:id(bad)]) end),
    P9 = spawn(W), Ms = [monitor(process, P9) || _ <- lists:seq(1, 5)], P9 ! {exit, all}, t:p([receive {'DOWN', M, _, _, R} -> R end || M <- Ms]),
    Ps = [spawn_monitor(fun() -> exit(I) end) || I <- lists:seq(1, 50)], t:p(lists:sum([receive {'DOWN', M, _, P, R} -> R end || {P, M} <- Ps])).
