%% Exit signals: every reason to processes that trap and don't, linked and not,
%% from exit/2, from a linked process's end, to oneself; what links and monitors hear.
-module(exit_matrix).
-export([main/0]).
main() ->
    process_flag(trap_exit, true), register(matrix, self()),
    Reasons = [normal, kill, killed, shutdown, {shutdown, x}, noproc, other, {error, [stack]}],
    [t:p({exit2, Trap, R}, exit2(Trap, R)) || Trap <- [false, true], R <- Reasons],
    [t:p({link, Trap, R}, linked(Trap, R)) || Trap <- [false, true], R <- Reasons],
    [t:p({own, Trap, R}, own(Trap, R)) || Trap <- [false, true], R <- Reasons],
    t:p(chain(10)), t:p(star(20)), t:p(link_dead()), t:p(unlink_race()), t:p(both_ways()), t:p(t:c(fun() -> link(self()) end)), t:p(t:c(fun() -> exit(self(), t:id(normal)) end)), t:p(t:flush()), t:p(error_in_linked()).

exit2(Trap, R) ->
    {P, M} = spawn_opt(fun() -> process_flag(trap_exit, Trap), me(), loop() end, [monitor]), ready(P),
    exit(P, R), P ! status, receive {'DOWN', M, _, _, W} -> {down, W}; {P, Ms} -> exit(P, kill), receive {'DOWN', M, _, _, W} -> {alive, Ms, W} end end.
linked(Trap, R) ->
    {P, M} = spawn_opt(fun() -> process_flag(trap_exit, Trap), Q = spawn_link(fun() -> receive go -> exit(R) end end), put(q, Q), me(), Q ! go, loop() end, [monitor]), ready(P),
    timer:sleep(5), P ! status, receive {'DOWN', M, _, _, W} -> {down, W}; {P, Ms} -> exit(P, kill), receive {'DOWN', M, _, _, W} -> {alive, Ms, W} end end.
own(Trap, R) ->
    {P, M} = spawn_monitor(fun() -> process_flag(trap_exit, Trap), me(), exit(self(), R), receive {'EXIT', S, W0} when S =:= self() -> exit({heard, W0}) after 10 -> exit(nothing) end end),
    ready(P), receive {'DOWN', M, _, _, W} -> W end.
me() -> whereis(matrix) ! {ready, self()}.
ready(P) -> P, receive {ready, P} -> ok end.
loop() -> receive status -> whereis(matrix) ! {self(), t:plain(t:flush())}, loop() end.
chain(N) -> {P, M} = spawn_monitor(fun() -> link_next(N) end), P ! go, receive {'DOWN', M, _, _, W} -> W end.
link_next(0) -> receive after 5 -> exit({end_of_chain, 0}) end;
link_next(N) -> spawn_link(fun() -> link_next(N - 1) end), receive never -> ok end.
star(N) ->
    S = self(), {Hub, M} = spawn_monitor(fun() -> [spawn_link(fun() -> process_flag(trap_exit, true), S ! up, receive {'EXIT', _, W} -> S ! {heard, W} end end) || _ <- lists:seq(1, N)], receive go -> exit(hub_gone) end end),
    [receive up -> ok end || _ <- lists:seq(1, N)], Hub ! go, receive {'DOWN', M, _, _, W} -> {W, lists:usort([receive {heard, X} -> X end || _ <- lists:seq(1, N)])} end.
link_dead() -> {P, M} = spawn_monitor(fun() -> ok end), receive {'DOWN', M, _, _, _} -> ok end, R = t:c(fun() -> link(P) end), {R, receive {'EXIT', P, W} -> W after 50 -> none end, monitor(process, P) =/= x, receive {'DOWN', _, _, P, W2} -> W2 end}.
unlink_race() -> P = spawn_link(fun() -> exit(x) end), unlink(P), receive {'EXIT', P, _} -> ok after 20 -> ok end, Q = spawn_link(fun() -> receive stop -> exit(gone) end end), unlink(Q), Q ! stop, receive {'EXIT', Q, _} -> heard after 30 -> silent end.
both_ways() -> P = spawn_link(fun() -> process_flag(trap_exit, true), receive {'EXIT', _, W} -> exit({saw, W}) end end), timer:sleep(5), exit(P, why), receive {'EXIT', P, W} -> W end.
error_in_linked() -> P = spawn_link(fun() -> t:id(a) + 1 end), receive {'EXIT', P, {R, [{M, F, A, _} | _]}} -> {R, M, F, A} end.
