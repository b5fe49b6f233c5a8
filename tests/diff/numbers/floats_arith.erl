%% Float arithmetic, conversions, rounding, and the errors.
-module(floats_arith).
-export([main/0]).
main() ->
    Ps = [{1.5, 2}, {7.0, -2.0}, {1.0e308, 10}, {1.0e-308, 1.0e10}, {0.0, 0.0}, {1, 3}, {1 bsl 64, 1.0}, {1 bsl 1023, 2.0}, {1 bsl 1024, 1.0}, {-0.0, 1}, {5.0, 0}],
    [t:p({A, B}, [t:c(fun() -> A + B end), t:c(fun() -> A - B end), t:c(fun() -> A * B end), t:c(fun() -> A / B end)]) || {A, B} <- Ps],
    [t:p(F, [round(F), trunc(F), floor(F), ceil(F), abs(F), -F]) || F <- [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999999999994, 1.0e15 + 0.5, 1.0e22, -1.0e22, 4503599627370497.5, 1.0e300, 0.0, -0.0]],
    [t:p(I, t:c(fun() -> float(I) end)) || I <- [0, 1, -1, 1 bsl 53 + 1, 1 bsl 63, 1 bsl 64 - 1, 1 bsl 1023, 1 bsl 1024, -(1 bsl 1024), (1 bsl 1024) - 1]],
    t:p(loop(1.0, 0, 50)), t:p(lists:foldl(fun(X, S) -> S + 1 / X end, 0.0, lists:seq(1, 1000))),
    t:p({0.0 == -0.0, 0.0 =:= -0.0, 1.0 == 1, 1.0 =:= 1, 0.1 + 0.2 == 0.3}),
    [t:pc(fun() -> F(X) end) || F <- [fun math:sqrt/1, fun math:log/1], X <- [2, 0, -1, 1.0e300, a]],
    t:pc(fun() -> t:id(2.0) rem 1 end), t:pc(fun() -> t:id(2.0) band 1 end).
loop(X, N, Max) when N < Max -> loop(X * 1.1 - 0.05 + N / 3, N + 1, Max);
loop(X, _, _) -> X.
