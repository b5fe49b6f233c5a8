%% Shortest decimal forms and the formats of io_lib.
-module(floats_format).
-export([main/0]).
main() ->
    Fs = [0.0, -0.0, 1.0, 0.1, 0.2, 0.1 + 0.2, 1.0e10, 1.0e15, 1.0e16, 1.0e17, 123456789.0, 1.0e21, 1.0e22, 1.0e-3, 1.0e-4, 1.0e-5, 1.0e-7, 1.5e300, 5.0e-324, 2.2250738585072014e-308,
          1.7976931348623157e308, 9007199254740992.0, 9007199254740993.0, 4503599627370496.5, 3.141592653589793, 100.0, 1.0e2, 12345.678, -2.5, 1 / 3, 2 / 3, 1.0e23, 9.5e-3],
    [io:format("~w ~p ~s ~s~n", [F, F, float_to_list(F), float_to_list(F, [short])]) || F <- Fs],
    [io:format("~f ~.2f ~e ~.3e ~g ~.4g|~12.3f|~-12.3f|~n", [F, F, F, F, F, F, F, F]) || F <- Fs, abs(F) < 1.0e50],
    [t:p({F, D}, {float_to_list(F, [{decimals, D}]), float_to_list(F, [{decimals, D}, compact]), float_to_binary(F, [{scientific, D}])}) || F <- [0.0, 1.5, -2.25, 123.456, 0.005, 99.995, 1.0e10], D <- [0, 1, 2, 5, 10]],
    t:pc(fun() -> float_to_list(1.0, [t:id(bad)]) end), t:pc(fun() -> float_to_list(t:id(1)) end), t:pc(fun() -> float_to_list(1.0, [{decimals, t:id(254)}]) end), t:pc(fun() -> float_to_list(1.0e300, [{decimals, t:id(3)}]) end).
