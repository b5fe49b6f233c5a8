%% The same operators compiled directly, in loops that cross into bignums.
-module(bignum_direct).
-export([main/0]).
main() ->
    t:p(up(1, 0)), t:p(down(-1, 0)), t:p(mul(1, 1)), t:p(sub(5, 0)), t:p(shl(1, 0)), t:p(lists:foldl(fun(X, A) -> A * 31 + X end, 7, lists:seq(1, 60))),
    t:p(lists:foldl(fun(X, A) -> (A bxor X) * 16777619 band 16#FFFFFFFF end, 2166136261, "hello world")),
    t:p(lists:foldl(fun(X, A) -> (A bxor X) * 1099511628211 band 16#FFFFFFFFFFFFFFFF end, 14695981039346656037, "hello world")),
    t:p(lcg(42, 20)), t:p((t:id(1 bsl 64) - t:id(1)) - t:id((1 bsl 64) - 2)), t:p(t:id(1 bsl 62) div t:id(1 bsl 60)), t:p(t:id(1 bsl 62) rem t:id(7)).
up(X, N) when N < 130 -> up(X + X + N, N + 1); up(X, _) -> X.
down(X, N) when N < 130 -> down(X + X - N, N + 1); down(X, _) -> X.
mul(X, N) when N < 60 -> mul(X * N * -1, N + 1); mul(X, _) -> X.
sub(X, N) when N < 70 -> sub(N - X * 3, N + 1); sub(X, _) -> X.
shl(X, N) when N < 66 -> shl((X bsl 1) bor (N band 1), N + 1); shl(X, _) -> X.
lcg(_, 0) -> []; lcg(X, N) -> Y = (X * 6364136223846793005 + 1442695040888963407) band 16#FFFFFFFFFFFFFFFF, [Y bsr 33 | lcg(Y, N - 1)].
