%% Binaries that grow by appending, shared in between.
-module(bits_append_grow).
-export([main/0]).
main() ->
    A = lists:foldl(fun(I, X) -> <<X/binary, I:16>> end, <<>>, lists:seq(1, 3000)), t:p({byte_size(A), erlang:crc32(A)}), B = <<A/binary, "one">>, C = <<A/binary, "two">>, t:p({erlang:crc32(B), erlang:crc32(C), binary:part(B, byte_size(B), -3), binary:part(C, byte_size(C), -3)}),
    D = lists:foldl(fun(I, X) -> <<X/bitstring, I:5>> end, <<>>, lists:seq(1, 999)), t:p({bit_size(D), erlang:phash2(D)}), S = self(), spawn(fun() -> S ! <<A/binary, "three">> end), E = <<A/binary, "four">>, receive F -> t:p({erlang:crc32(E), erlang:crc32(F)}) end, {G, H} = lists:foldl(fun(I, {X, Y}) -> {<<X/binary, I>>, <<Y/binary, X/binary>>} end, {<<>>, <<>>}, lists:seq(1, 60)), t:p({G, erlang:crc32(H)}), t:p(erlang:crc32(loop(500, <<>>))).
loop(0, B) -> B;
loop(N, B) -> _ = binary:copy(B, 1), loop(N - 1, <<B/binary, (integer_to_binary(N))/binary>>).
