%% Building floats of 16, 32 and 64 bits.
-module(bin_build_float).
-export([main/0]).
main() ->
    Vs = [0.0, -0.0, 1.0, -1.5, 3.14159, 1.0e10, 65504.0, 1.0e-5, 5.0e-324, 1.7976931348623157e308, 1, 255, -3, 6.1e-5, 5.96e-8],
    [t:p(V, [t:c(fun() -> <<V:64/float>> end), t:c(fun() -> <<V:32/float>> end), t:c(fun() -> <<V:16/float>> end),
             t:c(fun() -> <<V:64/float-little>> end), t:c(fun() -> <<V:32/float-little>> end), t:c(fun() -> <<V/float>> end)]) || V <- Vs],
    [t:pc({V, S}, fun() -> <<V:S/float>> end) || {V, S} <- [{a, 64}, {1.0, 63}, {1.0, 8}, {1.0e300, 32}, {1 bsl 2000, 64}, {1 bsl 200, 32}, {65536.0, 16}]],
    t:p(<<1:1, 1.5:32/float, 0:7>>),
    t:p(<<3:3, 1.5:64/float-little, 0:5>>).
