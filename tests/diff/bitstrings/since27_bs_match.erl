%% since 27
%% Every command of bs_match, with sizes that fit and that do not, and matches inside bytes.
-module(since27_bs_match).
-export([main/0]).

main() ->
    Inputs = [<<>>, <<1>>, <<255, 254>>, <<1:3>>, <<0:17>>, <<"abcdefgh">>, <<"abcdefghi">>,
              <<-1:64>>, <<16#8000000000000000:64, 1:1>>, binary:copy(<<"0123456789">>, 13),
              <<5:3, (binary:copy(<<"xyz">>, 9))/binary>>, <<"GET / HTTP">>, <<1:4, 2:4, 3:8, 4:16>>],
    [t:p({N, [call(N, t:id(B)) || B <- Inputs]}) || N <- lists:seq(1, 26)],
    [t:p({N, [call(N, inside(B)) || B <- Inputs]}) || N <- lists:seq(1, 26)],
    t:p([collect(N, []) || N <- [1, 10, 2000]]),
    t:p(rest(binary:copy(<<"key:value;">>, 40), [])).

%% The same bits behind three others.
inside(B) ->
    <<_:3, R/bits>> = t:id(<<5:3, B/bits>>),
    R.

call(N, B) ->
    try m(N, B) catch C:R -> {C, R} end.

m(1, <<A, R/binary>>) -> {A, R};
m(2, <<A:3, B:5, R/bits>>) -> {A, B, R};
m(3, <<A:59, R/bits>>) -> {A, R};
m(4, <<A:60, R/bits>>) -> {A, R};
m(5, <<A:64/signed, R/bits>>) -> {A, R};
m(6, <<A:64/little, R/bits>>) -> {A, R};
m(7, <<A:128, R/bits>>) -> {A, R};
m(8, <<A:16/little, B:16/big, C:16/native-signed>>) -> {A, B, C};
m(9, <<A:3/binary, B:5/binary>>) -> {A, B};
m(10, <<A:70/binary, B/binary>>) -> {byte_size(A), byte_size(B), B};
m(11, <<A:13/bits, B/bits>>) -> {A, B};
m(12, <<_:8, A:8, _/binary>>) -> A;
m(13, <<"GET ", R/binary>>) -> {get, R};
m(13, <<"abc", R/binary>>) -> {abc, R};
m(13, <<255, 254>>) -> bom;
m(14, <<0:17>>) -> zeros;
m(14, <<1:4, X:4, _/binary>>) -> {one, X};
m(15, <<A:24/signed, B:7/signed, C:1>>) -> {A, B, C};
m(16, <<A:31/little, B:33/little, R/bits>>) -> {A, B, R};
m(17, <<X:8, X:8, R/binary>>) -> {twice, X, R};
m(18, <<R/binary>>) -> {whole, byte_size(R)};
m(18, R) -> {bits, bit_size(R), byte_size(R)};
m(19, <<_:7, R/bits>>) -> {R, bit_size(R)};
m(20, <<A:0, R/bits>>) -> {A, bit_size(R)};
m(21, <<A:1/unit:24, B:2/unit:8, _/bits>>) -> {A, B};
m(22, <<A:16/binary-unit:3, R/binary>>) -> {A, byte_size(R)};
m(23, <<16#8000000000000000:64, R/bits>>) -> {top, R};
m(23, <<-1:64>>) -> ones;
m(23, <<"abcdefghi">>) -> letters;
m(24, <<A, B, C, D, R/binary>>) when A < B, C < D -> {D, C, B, A, R};
m(24, <<A, _/binary>>) -> {other, A};
m(25, <<A:8, R/binary-unit:3>>) -> {A, bit_size(R)};
m(26, <<A:5, R:3/binary-unit:7, S/binary-unit:12>>) -> {A, R, S};
m(N, B) when is_bitstring(B) -> {none, N, bit_size(B)}.

%% Big integers and bit strings while the heap is collected.
collect(0, Acc) ->
    erlang:phash2(Acc);
collect(N, Acc) ->
    B = t:id(<<N:70, N:200/unit:8, "tail", (N band 7):3>>),
    <<A:70, C:200/unit:8-binary, D/bits>> = B,
    collect(N - 1, [{A, byte_size(C), D} | lists:sublist(Acc, 100)]).

%% Sizes of what is left of a match.
rest(B, Acc) when byte_size(B) >= 10 ->
    <<K:3/binary, ":", V:5/binary, ";", R/binary>> = B,
    rest(R, [{K, V, byte_size(R), bit_size(R)} | Acc]);
rest(<<>>, Acc) ->
    {length(Acc), hd(Acc)}.
