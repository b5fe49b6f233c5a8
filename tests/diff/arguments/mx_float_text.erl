%% Every option of float_to_list/2 and float_to_binary/2.
-module(mx_float_text).
-export([main/0]).
main() ->
    Os = [[], [short], [{decimals, 0}], [{decimals, 3}], [{decimals, 3}, compact], [{scientific, 0}], [{scientific, 20}], [{scientific, 250}], [{decimals, 253}], [{decimals, 254}], [{decimals, -1}], [compact], [{decimals, 2}, {scientific, 2}], [{scientific, 2}, short], [bad], bad, [{decimals, a}], [short | x]],
    Fs = [0.0, -0.0, 1.0, -1.5, 0.1, 1.0e22, 1.0e23, 123456789.125, 4.0e-320, 1.7976931348623157e308, 2.5, 0.05, 9.995, 1, a],
    m:fs(erlang, [float_to_list, float_to_binary], [Fs, Os]).
