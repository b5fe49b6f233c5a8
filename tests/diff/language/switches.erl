%% case over many integers, atoms, tuples of several sizes, big and float values.
-module(switches).
-export([main/0]).
main() ->
    t:p([i(N) || N <- [-5, 0, 1, 2, 3, 7, 50, 99, 100, 1 bsl 60, 1 bsl 70, 2.0, a]]), t:p([a(X) || X <- [alpha, beta, gamma, delta, epsilon, zeta, 'with space', "alpha", 1]]), t:p([m(X) || X <- [1, 1.0, {1}, {1.0}, "1", <<"1">>, [], {}, #{}, [1 | 2], 1 bsl 64, -(1 bsl 64)]]), t:p([s(X) || X <- ["", "a", "ab", "abc", "b", [$a | b]]]), t:p([n({X, Y}) || X <- [1, 2, x], Y <- [1, 2, x]]), t:p([c(X) || X <- lists:seq(0, 130, 13)]).
i(0) -> zero; i(1) -> one; i(2) -> two; i(3) -> three; i(-5) -> minus; i(50) -> fifty; i(99) -> nn; i(1152921504606846976) -> big60; i(1180591620717411303424) -> big70; i(N) when N > 6, is_integer(N), N < 10 -> {dig, N}; i(_) -> other.
a(alpha) -> 1; a(beta) -> 2; a(gamma) -> 3; a(delta) -> 4; a(epsilon) -> 5; a(zeta) -> 6; a('with space') -> 7; a(_) -> 0.
m(1) -> int; m(1.0) -> float; m({1}) -> tint; m({1.0}) -> tfloat; m("1") -> str; m(<<"1">>) -> bin; m([]) -> nil; m({}) -> tup; m(18446744073709551616) -> big; m(-18446744073709551616) -> nbig; m(X) -> {other, X}.
s("") -> empty; s("a") -> a; s("ab") -> ab; s([$a | R]) -> {a_, R}; s(_) -> else_.
n({1, 1}) -> a; n({1, X}) -> {b, X}; n({X, 1}) -> {c, X}; n({X, X}) -> {same, X}; n(_) -> d.
c(X) -> case X rem 5 of 0 -> case X rem 3 of 0 -> fifteen; _ -> five end; 1 when X > 100 -> big1; 1 -> one; Y -> {rem_, Y} end.
