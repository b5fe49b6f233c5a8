%% Every integer operator around the borders of small and big.
-module(bignum_ops).
-export([main/0]).
main() ->
    Vs = [0, 1, -1, 2, (1 bsl 59) - 1, 1 bsl 59, -(1 bsl 59), -(1 bsl 59) - 1, 1 bsl 60, (1 bsl 63) - 1, 1 bsl 64, -(1 bsl 64), 12345678901234567890123456789, -98765432109876543210],
    Ops = ['+', '-', '*', 'div', 'rem', 'band', 'bor', 'bxor'],
    [t:p({A, B}, [t:c(fun() -> erlang:Op(A, B) end) || Op <- Ops]) || A <- Vs, B <- Vs],
    [t:p(A, {-A, bnot A, abs(A), A bsl 3, A bsr 3, A bsl -2, A bsl 70, A bsr 70, A bsr 200, A + 1, A - 1, A * A}) || A <- Vs],
    [t:p({A, B, A < B, A =< B, A =:= B, A == B, max(A, B)}) || A <- Vs, B <- [1 bsl 60, -(1 bsl 64), 0]].
