%% Building integers of every size, sign and byte order.
-module(bin_build_int).
-export([main/0]).
main() ->
    Vs = [0, 1, -1, 127, 128, 255, 256, -128, -129, 65535, 16#123456789ABCDEF, -(1 bsl 70) - 5, 1 bsl 100 + 12345],
    [t:p(V, {<<V>>, <<V:16>>, <<V:16/little>>, <<V:16/native>>, <<V:24/little>>, <<V:32/signed>>, <<V:64/little>>, <<V:64>>}) || V <- Vs],
    [t:p({S, V}, {<<V:S>>, <<V:S/little>>, <<5:3, V:S>>, <<5:3, V:S/little, 0:2>>})
     || S <- [0, 1, 3, 7, 8, 9, 12, 15, 17, 31, 33, 63, 65, 72, 100, 128], V <- [1, -1, 16#A5A5A5A5A5A5A5A5A5A5]],
    t:p(<<1:8/unit:4, 2:2/unit:16, 3:4/integer-unit:8-little>>),
    [t:pc({V, S}, fun() -> <<V:S>> end) || {V, S} <- [{a, 8}, {1.0, 8}, {1, -1}, {1, a}, {1, 1 bsl 70}, {"a", 8}]].
