%% Linking twice is one link; unlinking once undoes it.
-module(sig_link_twice).
-export([main/0]).
main() ->
    process_flag(trap_exit, true),
    P = spawn(fun() -> receive stop -> exit(bye) end end),
    true = link(P), true = link(P), t:p(length([X || X <- element(2, process_info(self(), links)), X =:= P])),
    unlink(P), t:p(lists:member(P, element(2, process_info(self(), links)))), P ! stop, wait(P), t:p(t:flush()),
    Q = spawn_link(fun() -> receive stop -> exit(bye) end end), Q ! stop, receive X1 -> t:p(X1) end, t:p(catch link(Q)), t:p(t:flush()),
    R = spawn(fun() -> ok end), wait(R), t:p(catch link(R)), receive X2 -> t:p(X2) after 1000 -> t:p(none) end,
    process_flag(trap_exit, false), t:p(t:st(fun() -> link(R) end)), t:p(catch link(self())), t:p(catch unlink(self())), t:p(element(2, process_info(self(), links)) -- [whereis(init)]).
wait(P) -> R = monitor(process, P), receive {'DOWN', R, _, _, _} -> ok end.
