%% Arithmetic inside guards; errors there only make the guard fail.
-module(guard_arith).
-export([main/0]).
main() ->
    Vs = [0, 1, -1, 7, 2.0, 1 bsl 65, a],
    [t:p({A, B}, [N || {N, y} <- [{add, add(A, B)}, {sub, sub(A, B)}, {mul, mul(A, B)}, {idiv, idiv(A, B)},
        {irem, irem(A, B)}, {fdiv, fdiv(A, B)}, {band1, band1(A, B)}, {bor1, bor1(A, B)},
        {bxor1, bxor1(A, B)}, {bnot1, bnot1(A)}, {bsl1, bsl1(A, B)}, {bsr1, bsr1(A, B)}, {neg, neg(A)}]])
     || A <- Vs, B <- Vs].
add(A, B) when A + B > 0 -> y; add(_, _) -> n.
sub(A, B) when A - B > 0 -> y; sub(_, _) -> n.
mul(A, B) when A * B > 0 -> y; mul(_, _) -> n.
idiv(A, B) when A div B >= 0 -> y; idiv(_, _) -> n.
irem(A, B) when A rem B >= 0 -> y; irem(_, _) -> n.
fdiv(A, B) when A / B >= 0 -> y; fdiv(_, _) -> n.
band1(A, B) when A band B > 0 -> y; band1(_, _) -> n.
bor1(A, B) when A bor B > 0 -> y; bor1(_, _) -> n.
bxor1(A, B) when A bxor B > 0 -> y; bxor1(_, _) -> n.
bnot1(A) when bnot A < 0 -> y; bnot1(_) -> n.
bsl1(A, B) when is_integer(B), B < 100, A bsl B > 0 -> y; bsl1(_, _) -> n.
bsr1(A, B) when A bsr B > 0 -> y; bsr1(_, _) -> n.
neg(A) when -A < 0 -> y; neg(_) -> n.
