%% Integers to text and back in all bases.
-module(bignum_base).
-export([main/0]).
main() ->
    Vs = [0, 1, -1, 35, 255, -256, 1 bsl 64, -(1 bsl 100) + 1, 123456789012345678901234567890],
    [t:p({V, B}, {integer_to_list(V, B), integer_to_binary(V, B)}) || V <- Vs, B <- [2, 3, 8, 10, 16, 36]],
    [true = (list_to_integer(integer_to_list(V, B), B) =:= V andalso binary_to_integer(integer_to_binary(V, B), B) =:= V) || V <- Vs, B <- lists:seq(2, 36)],
    t:p([t:c(fun() -> list_to_integer(S) end) || S <- ["12", "-12", "+12", "", "-", "+", "1a", " 1", "1 ", "000012", "99999999999999999999999", "-0", "1.0"]]),
    t:p([t:c(fun() -> list_to_integer(S, 16) end) || S <- ["ff", "FF", "-fF", "g", "", "10000000000000000000000"]]),
    t:p([t:c(fun() -> binary_to_integer(S) end) || S <- [<<"12">>, <<"-12">>, <<>>, <<"12 ">>, <<"x">>, <<1:1>>]]),
    t:p([t:c(fun() -> F(t:id(10), t:id(B)) end) || F <- [fun integer_to_list/2, fun integer_to_binary/2], B <- [1, 37, 0, a]]),
    t:p([string:to_integer(S) || S <- ["12abc", "abc", "-5 6", "+7", <<"88x">>, "", "--1"]]),
    t:p([t:c(fun() -> list_to_integer(t:id(S)) end) || S <- [a, [a], [49 | 50], [300]]]).
