%% Many processes: rings, trees, all-to-all.
-module(ring_and_pingpong).
-export([main/0]).
main() ->
    S = self(), t:p(ring(100, 1000)), t:p(ring(1, 10)), t:p(tree(8)), Ps = [spawn(fun() -> all(S, 20, 0) end) || _ <- lists:seq(1, 20)], [P ! {peers, Ps} || P <- Ps], t:p(lists:sum([receive {sum, N} -> N end || _ <- Ps])), t:p(pp(20000)), t:p(chain(20000)).
ring(N, M) -> S = self(), F = lists:foldl(fun(_, Next) -> spawn(fun() -> hop(Next) end) end, S, lists:seq(1, N)), F ! M, R = back(F, M), F ! stop, receive stop -> ok end, R.
back(F, _) -> receive 0 -> done; K -> F ! K - 1, back(F, K) end.
hop(Next) -> receive stop -> Next ! stop; K -> Next ! K, hop(Next) end.
tree(0) -> 1; tree(N) -> S = self(), [spawn(fun() -> S ! {leaf, tree(N - 1)} end) || _ <- [1, 2]], receive {leaf, A} -> receive {leaf, B} -> A + B + 1 end end.
all(S, 0, Sum) -> S ! {sum, Sum}; all(S, N, Sum) -> receive {peers, Ps} -> [P ! {v, 1} || P <- Ps], all(S, N, Sum); {v, V} -> all(S, N - 1, Sum + V) end.
pp(N) -> P = spawn(fun Loop() -> receive {F, X} -> F ! X, Loop(); stop -> ok end end), R = lists:foldl(fun(I, A) -> P ! {self(), I}, receive X -> A + X end end, 0, lists:seq(1, N)), P ! stop, R.
chain(N) -> S = self(), L = lists:foldl(fun(_, R) -> spawn(fun() -> receive X -> R ! X + 1 end end) end, S, lists:seq(1, N)), L ! 0, receive V -> V end.
