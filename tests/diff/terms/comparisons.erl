%% All comparison operators over a mixed list, in guards and bodies.
-module(comparisons).
-export([main/0]).
main() ->
    Vs = [1, 1.0, 2, -1, 1 bsl 64, 1.0e20, a, b, "a", [], {1}, {1.0}, <<"a">>, #{}, #{1 => a}, #{1.0 => a}, 0.0, -0.0],
    [t:p({A, B}, {A < B, A > B, A =< B, A >= B, A == B, A /= B, A =:= B, A =/= B, g(A, B)}) || A <- Vs, B <- Vs].
g(A, B) when A < B -> lt;
g(A, B) when A =:= B -> exact;
g(A, B) when A == B -> eq;
g(A, B) when A > B -> gt.
