%% Integers and binaries at every bit offset.
-module(bits_unaligned).
-export([main/0]).
main() -> [begin B = <<0:O, 16#DEADBEEF:32, 16#1234567890ABCDEF:64/little, "abc", 5:3>>, <<_:O, A:32, C:64/little, D:3/binary, E:3>> = B, <<_:O, F:12/bitstring, G/bitstring>> = B, t:p(O, {A, C, D, E, F, bit_size(G), erlang:phash2(G), G =:= t:id(G), <<G/bitstring, 1:1>> > G}) end || O <- lists:seq(0, 17)].
