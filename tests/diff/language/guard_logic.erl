%% and, or, andalso, orelse, not, xor, commas and semicolons; failing guards.
-module(guard_logic).
-export([main/0]).
main() ->
    Vs = [true, false, 1, foo],
    [t:p({A, B}, {g1(A, B), g2(A, B), g3(A, B), g4(A, B), g5(A, B), g6(A, B)}) || A <- Vs, B <- Vs],
    [t:p({A, B}, [t:c(fun() -> F(A, B) end) || F <- bodies()]) || A <- Vs, B <- Vs],
    t:p([h(X) || X <- [1, 5, 10, a, [], {x}, 2.5]]).
g1(A, B) when A and B -> y; g1(_, _) -> n.
g2(A, B) when A or B -> y; g2(_, _) -> n.
g3(A, B) when A andalso B -> y; g3(_, _) -> n.
g4(A, B) when A orelse B -> y; g4(_, _) -> n.
g5(A, B) when A xor B -> y; g5(_, _) -> n.
g6(A, B) when not A; B -> y; g6(_, _) -> n.
bodies() ->
    [fun(A, B) -> A and B end, fun(A, B) -> A or B end, fun(A, B) -> A andalso B end,
     fun(A, B) -> A orelse B end, fun(A, B) -> A xor B end, fun(A, _) -> not A end].
h(X) when is_integer(X), X > 4, X < 8; X =:= a; length(X) =:= 0 -> {in, X};
h(X) when element(1, X) =:= x orelse X > 2 -> {second, X};
h(X) -> {out, X}.
