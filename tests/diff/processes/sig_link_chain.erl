%% A chain of links dies from one end, up to the one that traps.
-module(sig_link_chain).
-export([main/0]).
main() ->
    process_flag(trap_exit, true), [t:p({N, R}, chain(N, R)) || N <- [1, 3, 20], R <- [normal, shutdown, kill, {a, b}]].
chain(N, R) ->
    S = self(), P = spawn_link(fun() -> grow(N, S) end), Ps = collect(N + 1), exit(lists:last(Ps), R),
    receive {'EXIT', P, W} -> {W, [is_process_alive(Q) || Q <- Ps]} after 50 -> L = [is_process_alive(Q) || Q <- Ps], exit(P, kill), receive {'EXIT', P, W} -> {none, L, W} end end.
grow(0, S) -> S ! {up, 0, self()}, receive never -> ok end;
grow(N, S) -> S ! {up, N, self()}, spawn_link(fun() -> grow(N - 1, S) end), receive never -> ok end.
collect(N) -> [receive {up, I, P} -> P end || I <- lists:seq(N - 1, 0, -1)].
