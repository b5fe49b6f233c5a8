%% Links, exit reasons, trap_exit, kill, unlink, links to the dead.
-module(links).
-export([main/0]).
main() ->
    process_flag(trap_exit, true), t:p(process_flag(trap_exit, true)),
    [begin P = spawn_link(F), t:p(receive {'EXIT', P, R} -> reason(R) after 1000 -> none end) end || F <- [fun() -> ok end, fun() -> exit(bye) end, fun() -> exit(normal) end, fun() -> error(bad) end, fun() -> throw(x) end, fun() -> exit(kill) end, fun() -> 1 / t:id(0) end]],
    W = fun() -> receive stop -> ok end end,
    [begin P = spawn_link(W), exit(P, R), t:p(R, receive {'EXIT', P, R2} -> R2 after 50 -> P ! stop, receive {'EXIT', P, R3} -> {survived, R3} end end) end || R <- [normal, shutdown, kill, {a, b}, killed]],
    T = fun() -> process_flag(trap_exit, true), receive M -> exit({got, element(1, M), element(3, M)}) end end,
    [begin P = spawn_link(T), wait(P), exit(P, R), t:p(R, receive {'EXIT', P, R2} -> R2 after 1000 -> none end) end || R <- [normal, shutdown, kill, {a, b}]],
    D = spawn(fun() -> ok end), M = monitor(process, D), receive {'DOWN', M, _, _, _} -> ok end,
    t:p(link(D)), t:p(receive {'EXIT', D, R} -> R after 1000 -> none end), t:p(exit(D, x)), t:p(unlink(D)),
    U = spawn_link(W), unlink(U), exit(U, away), t:p(receive {'EXIT', U, _} -> bad after 20 -> no_exit end),
    Self = self(), spawn(fun() -> C = spawn_link(W), Self ! {c, C}, exit(chain) end), receive {c, C} -> MC = monitor(process, C), t:p(receive {'DOWN', MC, _, _, RC} -> lists:member(RC, [chain, noproc]) end) end,
    spawn(fun() -> exit(Self, direct) end), t:p(receive {'EXIT', _, X} -> X end), exit(self(), normal), t:p(receive {'EXIT', Self, Y} -> {self, Y} after 100 -> none end), t:pc(fun() -> exit(t:id(a), x) end), t:pc(fun() -> link(t:id(1)) end).
reason({R, S}) when is_list(S) -> {R, stack}; reason({{R, V}, S}) when is_list(S) -> {{R, V}, stack}; reason(R) -> R.
wait(P) -> case process_info(P, trap_exit) of {_, true} -> ok; _ -> erlang:yield(), wait(P) end.
