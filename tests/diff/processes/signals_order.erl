%% Signals between two processes keep their order.
-module(signals_order).
-export([main/0]).
main() ->
    S = self(),
    P = spawn(fun() -> [S ! {n, I} || I <- lists:seq(1, 1000)], exit(done) end), M = monitor(process, P), L = collect([]), t:p(L =:= lists:seq(1, 1000)), t:p(receive {'DOWN', M, _, _, R} -> lists:member(R, [done, noproc]) after 1000 -> none end),
    process_flag(trap_exit, true), Q = spawn_link(fun() -> [S ! I || I <- lists:seq(1, 100)], exit(end_) end), t:p(upto(Q, [])),
    E = spawn(fun() -> echo() end), [E ! {S, I} || I <- lists:seq(1, 500)], t:p([receive {E, I} -> I end || _ <- lists:seq(1, 500)] =:= lists:seq(1, 500)), E ! stop.
collect(Acc) when length(Acc) =:= 1000 -> lists:reverse(Acc); collect(Acc) -> receive {n, I} -> collect([I | Acc]) end.
upto(Q, Acc) -> receive {'EXIT', Q, R} -> {length(Acc), R}; I -> upto(Q, [I | Acc]) end.
echo() -> receive {P, X} -> P ! {self(), X}, echo(); stop -> ok end.
