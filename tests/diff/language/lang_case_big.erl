%% case over many values of each type, hashed and searched alike.
-module(lang_case_big).
-export([main/0]).
main() ->
    t:p([i(X) || X <- lists:seq(-3, 45) ++ [1 bsl 60, 1 bsl 64, -(1 bsl 64), 3.0, a]]),
    t:p([a(X) || X <- [a, b, c, d, e, f, g, h, i, j, k, zz, 1, "a"]]),
    t:p([f(X) || X <- [0.0, -0.0, 1.0, 1, 2.5, 3.5, 1.0e10, a]]),
    t:p([b(X) || X <- [<<"a">>, <<"ab">>, <<"abc">>, <<"b">>, <<>>, <<"zzz">>, <<1:1>>]]),
    t:p([s(X) || X <- ["", "a", "ab", "abc", "b", [], [1 | 2]]]),
    t:p([tp(X) || X <- [{}, {a}, {b}, {a, 1}, {a, 2}, {b, 1}, {a, 1, 2}, {1, a}, x]]),
    t:p([m(X) || X <- [{1, a}, {a, 1}, [1, a], [a | 1], {[], {}}, {"", <<>>}, #{}, #{a => 1}, 5]]).
i(-2) -> m2; i(0) -> z; i(1) -> o; i(2) -> t; i(3) -> th; i(5) -> f; i(8) -> e; i(13) -> th13; i(21) -> t21; i(34) -> t34; i(44) -> t44; i(1152921504606846976) -> b60; i(18446744073709551616) -> b64; i(-18446744073709551616) -> mb64; i(_) -> no.
a(a) -> 1; a(b) -> 2; a(c) -> 3; a(d) -> 4; a(e) -> 5; a(f) -> 6; a(g) -> 7; a(h) -> 8; a(i) -> 9; a(j) -> 10; a(k) -> 11; a(_) -> no.
f(0.0) -> z; f(1.0) -> o; f(2.5) -> t; f(3.5) -> th; f(1.0e10) -> big; f(_) -> no.
b(<<"a">>) -> a; b(<<"ab">>) -> ab; b(<<"abc">>) -> abc; b(<<"b", _/binary>>) -> b; b(<<>>) -> e; b(_) -> no.
s("") -> e; s("a") -> a; s("ab") -> ab; s("abc") -> abc; s([$b | _]) -> b; s(_) -> no.
tp({}) -> e; tp({a}) -> a; tp({b}) -> b; tp({a, 1}) -> a1; tp({a, _}) -> ax; tp({b, _}) -> bx; tp({_, _, _}) -> three; tp({X, Y}) when X < Y -> lt; tp(_) -> no.
m({1, X}) -> {x, X}; m({X, 1}) -> {y, X}; m([1, X]) -> {z, X}; m([X | 1]) -> {w, X}; m({[], {}}) -> empty; m({"", <<>>}) -> never; m(#{a := X}) -> {m, X}; m(#{}) -> map; m(_) -> no.
