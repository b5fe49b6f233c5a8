%% Functions of one number.
-module(mx_numbers).
-export([main/0]).
main() ->
    m:fs(erlang, [abs, float, trunc, round, ceil, floor, '-', '+', 'bnot', 'not', is_integer, is_float, is_number], [m:nums()]),
    m:fs(erlang, [trunc, round, ceil, floor], [[0.5, -0.5, 1.5, 2.5, -2.5, 4503599627370497.5, 1.0e15, -1.0e18, 5.764607523034235e17, 9.3e18, 1.0e40, 0.49999999999999994]]).
