%% Order of links, monitors, messages and exits between two and three processes.
-module(spawn_order_signals).
-export([main/0]).
main() ->
    process_flag(trap_exit, true), S = self(),
    t:p([begin P = spawn(fun() -> receive go -> [S ! I || I <- [1, 2, 3]], exit(done) end end), link(P), M = monitor(process, P), P ! go, [receive 1 -> 1 end,
    receive 2 -> 2 end,
    receive 3 -> 3 end | lists:sort([receive {'EXIT', P, R} -> {exit, R}; {'DOWN', M, _, P, R} -> {down, R} end || _ <- [1, 2]])] end || _ <- [1, 2, 3]]), A = spawn(fun() -> echo(S) end), [A ! I || I <- lists:seq(1, 100)],
    t:p([receive {e, X} -> X end || _ <- lists:seq(1, 100)] =:= lists:seq(1, 100)), exit(A, kill), B = spawn(fun() -> process_flag(trap_exit, true), S ! up, trap(S) end),
    receive up -> ok end, exit(B, r1), B ! m1, exit(B, r2), B ! m2,
    t:p([receive {b, X2} -> X2 after 500 -> none end || _ <- [1, 2, 3, 4]]), exit(B, kill), C = spawn(fun() -> receive x -> ok end end), M1 = monitor(process, C), M2 = monitor(process, C, [{tag, tagged}]), M3 = monitor(process, C, [{alias, reply_demonitor}]), C ! x,
    t:p(lists:sort([receive {T, Mx, process, C, W} when Mx =:= M1; Mx =:= M2; Mx =:= M3 -> {T, W} after 500 -> none end || _ <- [1, 2, 3]])), D = spawn(fun() -> receive {S, al, Al} -> Al ! {to_alias, 1}, Al ! {to_alias, 2} end end), M4 = monitor(process, D, [{alias, reply_demonitor}]), D ! {S, al, M4},
    t:p(receive {to_alias, Y} -> Y after 500 -> none end), timer:sleep(10),
    t:p(t:flush() -- [{'EXIT', D, normal}]), E = spawn_link(fun() -> S ! before, unlink(S), S ! after_unlink, exit(unheard) end),
    t:p([receive before -> 1 end, receive after_unlink -> 2 end]), timer:sleep(10),
    t:p([X3 || {'EXIT', Px, X3} <- t:flush(), Px =:= E]), F = spawn(fun() -> exit(early) end), timer:sleep(5),
    t:p([link(F), receive {'EXIT', F, R4} -> R4 after 500 -> none end]),
    t:p([receive {'DOWN', M5, _, _, R5} -> R5 after 500 -> none end || M5 <- [monitor(process, F)]]), {G, M6} = spawn_monitor(fun() -> throw(loose) end),
    t:p(receive {'DOWN', M6, _, G, {R6, _}} -> R6 end),
    t:p([process_info(self(), links) =/= x, t:flush()]).
echo(S) -> receive X -> S ! {e, X}, echo(S) end.
trap(S) -> receive {'EXIT', _, R} -> S ! {b, {exit, R}}; M -> S ! {b, M} end, trap(S).
