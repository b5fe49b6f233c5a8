%% Every function of math with numbers on and off its domain.
-module(mx_math).
-export([main/0]).
-export([call/2, call/3]).
main() ->
    Xs = [0, 1, -1, 2, 0.5, -0.5, 10, 100.0, -0.0, 1.0e-10, 1.0e300, 1 bsl 1000, 1 bsl 1030, a, "1"],
    F = fun(X) -> try apply(math, X, []) catch _:_ -> ok end end, F(pi),
    [m:f(?MODULE, call, [[Fn], Xs]) || Fn <- [sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, exp, log, log2, log10, sqrt, erf, erfc, ceil, floor]],
    [m:f(?MODULE, call, [[Fn], Xs, Xs]) || Fn <- [pow, atan2, fmod]], t:p(math:pi()).
call(F, X) -> near(F, [X]).
call(F, X, Y) -> near(F, [X, Y]).
near(F, A) -> case m:outcome(math, F, A) of V when is_float(V) -> list_to_float(float_to_list(V, [{scientific, 10}])); V -> V end.
