%% Which of two bad segments is told, and what of it.
-module(bits_fail_order).
-export([main/0, build/3]).
main() -> [t:p({N, V, W}, failure(N, V, W)) || N <- lists:seq(1, 21), {V, W} <- pairs()].

pairs() ->
    [{a, [1, 2]}, {a, -1}, {a, 1}, {1, a}, {1.0, a}, {1.0, 16#D800}, {16#D800, a}, {a, 16#110000},
     {<<1>>, a}, {<<1>>, -1}, {1 bsl 80, a}, {1.0e300, a}, {a, 1 bsl 80}, {<<1:4>>, b}].

failure(N, V, W) ->
    try build(N, V, W)
    catch
        _:Reason:Stack -> {Reason, proplists:get_value(error_info, element(4, hd(Stack)))}
    end.

build(1, V, W) -> <<V:32/float-little, V:32/float-big, W/utf8>>;
build(2, V, W) -> <<V:32, W/utf8>>;
build(3, V, W) -> <<V:32/float, W/utf8>>;
build(4, V, W) -> <<V:64/float, W/utf16>>;
build(5, V, W) -> <<V:64/float, W/utf32>>;
build(6, V, W) -> <<V:64/float, W/binary>>;
build(7, V, W) -> <<V:64/float, 1:W>>;
build(8, V, W) -> <<V/utf8, W/utf8>>;
build(9, V, W) -> <<V/utf16, W/utf8>>;
build(10, V, W) -> <<V/utf32, W/utf8>>;
build(11, V, W) -> <<V/utf32, W/binary>>;
build(12, V, W) -> <<V:W/float, W/utf8>>;
build(13, V, W) -> <<V/float, V:16/little, W/utf8>>;
build(14, V, W) -> <<V:3/binary, W/utf8>>;
build(15, V, W) -> <<V/binary, W/utf8>>;
build(16, V, W) -> <<V:32/float, W/float>>;
build(17, V, W) -> <<V:32/float, W:16, V/utf32>>;
build(18, V, W) -> <<V:16, W:32/float>>;
build(19, V, W) -> <<V:16, W/utf32>>;
build(20, V, W) -> <<V:W, W/utf8>>;
build(21, V, W) -> <<V:300, W/utf8>>.
