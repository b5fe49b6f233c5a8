%% Integer BIFs on every kind of number and base.
-module(mx_erl_ints).
-export([main/0]).
main() ->
    m:fs(erlang, [abs, trunc, round, ceil, floor, float, '-', '+', 'bnot', integer_to_list, integer_to_binary, float_to_list, float_to_binary], [m:nums() ++ m:ints()]),
    m:f(erlang, integer_to_list, [m:ints(), [2, 3, 10, 16, 36, 1, 37, a]]),
    m:f(erlang, integer_to_binary, [m:ints(), [2, 8, 35, 36, 0, -1]]),
    m:fs(erlang, [list_to_integer, binary_to_integer, list_to_float, binary_to_float], [["0", "-0", "+5", "1_0", "", "-", "1.0", "1e5", "1.0e5", " 1", "1 ", <<"12">>, <<"1.5">>, <<"-7">>, <<>>, "zz", [49, a], a, "99999999999999999999", "1.0e400", "-1.0e-400"]]),
    m:f(erlang, list_to_integer, [["zZ", "ff", "102", "-11", "8", <<"1">>], [2, 8, 16, 36, 37, a]]),
    m:f(erlang, binary_to_integer, [[<<"zZ">>, <<"ff">>, <<"102">>, <<"-11">>, "1"], [2, 8, 16, 36, 1]]).
