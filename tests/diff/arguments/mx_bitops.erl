%% Bit operations on integers of every size.
-module(mx_bitops).
-export([main/0]).
main() ->
    m:fs(erlang, ['band', 'bor', 'bxor'], [m:ints(), m:ints()]),
    m:fs(erlang, ['bsl', 'bsr'], [m:ints(), [0, 1, -1, 5, 59, 60, 64, -64, 100, -100, 1.0, a]]),
    m:f(erlang, 'bsr', [m:ints(), [1 bsl 59, 1 bsl 64, 1 bsl 70]]),
    m:f(erlang, 'bsl', [m:ints(), [-(1 bsl 59), -(1 bsl 64), -(1 bsl 70)]]),
    m:f(erlang, 'bsl', [[0, a, 1.5], [1 bsl 59, 1 bsl 64, 1 bsl 70]]).
