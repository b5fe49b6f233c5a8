%% Module math (values whose last digits do not depend on the C library).
-module(floats_math).
-export([main/0]).
main() ->
    t:p([math:sqrt(X) || X <- [0, 1, 2, 4.0, 1.0e10, 1 bsl 80]]), t:p([math:pow(2, X) || X <- [0, 1, 10, -1, 0.5, 1023]]), t:p([math:floor(1.5), math:ceil(1.5), math:floor(-1.5), math:ceil(3), math:fmod(7.5, 2), math:fmod(-7, 3)]),
    t:p([trunc(F(0.5) * 1.0e9) || F <- [fun math:sin/1, fun math:cos/1, fun math:tan/1, fun math:asin/1, fun math:acos/1, fun math:atan/1, fun math:sinh/1, fun math:cosh/1, fun math:tanh/1, fun math:asinh/1, fun math:atanh/1, fun math:exp/1, fun math:log/1, fun math:log2/1, fun math:log10/1, fun math:erf/1, fun math:erfc/1]]),
    t:p([math:log2(8), math:log10(1000), math:exp(0), math:pi(), math:atan2(0, 1), math:acosh(1)]),
    t:pc(fun() -> math:pow(t:id(2), 5000) end), t:pc(fun() -> math:sqrt(t:id(-1)) end), t:pc(fun() -> math:acos(t:id(2)) end), t:pc(fun() -> math:exp(t:id(1000)) end), t:pc(fun() -> math:log(t:id(0)) end), t:pc(fun() -> math:sin(t:id(a)) end), t:pc(fun() -> math:fmod(1, t:id(0)) end), t:pc(fun() -> math:sqrt(t:id(1 bsl 1030)) end).
