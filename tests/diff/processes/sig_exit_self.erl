%% exit/2 to oneself with each reason, trapping and not.
-module(sig_exit_self).
-export([main/0]).
main() -> [t:p({Trap, R}, try_one(Trap, R)) || Trap <- [true, false], R <- [normal, kill, killed, shutdown, {shutdown, x}, foo, undefined]].
try_one(Trap, Reason) ->
    S = self(),
    {P, M} = spawn_monitor(fun() -> process_flag(trap_exit, Trap), exit(self(), Reason), S ! {self(), alive}, receive X -> S ! {self(), X} after 0 -> S ! {self(), nothing} end end),
    A = receive {'DOWN', M, _, _, Why} -> {down, Why} end, {A, [X || {Q, X} <- t:flush(), Q =:= P]}.
