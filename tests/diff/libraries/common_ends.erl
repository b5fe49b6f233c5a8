%% binary:longest_common_prefix/1 and longest_common_suffix/1: lengths about their blocks, differences at
%% both ends, unaligned binaries, long ones that take several turns; objects of one key in a duplicate_bag.
-module(common_ends).
-export([main/0]).

main() ->
    [t:p({N, ends(N)}) || N <- [0, 1, 2, 4095, 4096, 4097, 8191, 8192, 8193, 3_000_000]],
    [t:pc(fun() -> binary:F(L) end) || F <- [longest_common_prefix, longest_common_suffix],
                                       L <- [[], a, [<<1>>], [<<1>> | <<2>>], [<<1:3>>], [<<>>, a], [<<>>], [<<1>>, <<>>]]],
    bag().

ends(N) ->
    B = binary:copy(<<"x">>, N),
    <<_:3, Odd/binary>> = <<5:3, B/binary>>,
    [{binary:longest_common_prefix(L), binary:longest_common_suffix(L)} ||
        L <- [[B], [B, B], [B, Odd], [<<B/binary, "y">>, <<B/binary, "z">>], [<<"y", B/binary>>, <<"z", B/binary>>],
              [<<B/binary, "a", B/binary>>, <<B/binary, "b", B/binary>>, Odd], [<<B/binary, "a">>, B, <<"a", B/binary>>]]].

bag() ->
    T = ets:new(t, [duplicate_bag]),
    ets:insert(T, [{K, I} || I <- lists:seq(1, 50), K <- [a, b, 1, 1.0]]),
    ets:safe_fixtable(T, true),
    ets:delete_object(T, {a, 50}),
    ets:delete(T, b),
    ets:insert(T, [{a, 50}, {b, 7}, {a, 50}]),
    t:p([ets:lookup(T, K) || K <- [a, b, 1, 1.0]]),
    t:pc(fun() -> ets:insert_new(T, {a, 1}) end),
    ets:safe_fixtable(T, false),
    t:p({ets:info(T, size), [ets:lookup(T, K) || K <- [a, b]]}).
