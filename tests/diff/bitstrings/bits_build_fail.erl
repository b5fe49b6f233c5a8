%% Segments that cannot be built, with what the shell says of them.
-module(bits_build_fail).
-export([main/0]).
-export([int/2, float/2, bin/2, bits/2, unit/2, utf8/1, utf16/1, utf32/1, all/1, allb/1]).
main() ->
    [t:p({V, S}, [m:outcome(?MODULE, F, [V, S]) || F <- [int, float, bin, bits, unit]]) || V <- [1, a, 1.5, <<"ab">>, <<1:3>>, [1], 1 bsl 64], S <- [0, 1, 8, 16, 64, -1, a, 1 bsl 70]],
    [t:p(V, [m:outcome(?MODULE, F, [V]) || F <- [utf8, utf16, utf32, all, allb]]) || V <- [0, $a, 255, 16#D7FF, 16#D800, 16#DFFF, 16#E000, 16#FFFF, 16#10FFFF, 16#110000, -1, a, 1.0, <<"x">>, <<1:1>>]].
int(V, S) -> <<V:S>>.
float(V, S) -> <<V:S/float>>.
bin(V, S) -> <<V:S/binary>>.
bits(V, S) -> <<V:S/bitstring>>.
unit(V, S) -> <<V:S/integer-unit:3, V:S/binary-unit:2>>.
utf8(V) -> <<V/utf8>>.
utf16(V) -> <<V/utf16-little>>.
utf32(V) -> <<V/utf32>>.
all(V) -> <<V/binary>>.
allb(V) -> <<V/bitstring>>.
