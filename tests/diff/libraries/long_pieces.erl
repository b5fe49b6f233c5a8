%% I/O lists of few long binaries, of many, with long tails, unaligned, and with a bad piece at the end, joined
%% over several turns; compressed terms that take several turns, and such as are cut off, longer or shorter
%% than they say, or followed by something.
-module(long_pieces).
-export([main/0]).

main() ->
    [t:p({N, joined(N)}) || N <- [100_000, 262_144, 300_001, 5_000_000]],
    [t:pc(fun() -> erlang:phash2(F(L)) end) || F <- [fun iolist_to_binary/1, fun list_to_binary/1], L <- bad()],
    t:p(many()),
    compressed().

joined(N) ->
    B = binary:copy(<<"0123456789">>, N div 10 + 1),
    Part = binary:part(B, 1, N),
    <<_:3, Odd:N/binary, _/bits>> = <<5:3, B/binary>>,
    Ls = [[B], [B, B], [B | Part], [[], Odd, 7, [Part | Odd] | B], [[[[Odd]]]], [$a | Odd], [Part, [[] | <<>>]]],
    [same(iolist_to_binary(L), L) || L <- Ls].

same(X, L) -> {byte_size(X), X =:= list_to_binary(L), erlang:crc32(X) =:= erlang:crc32(L)}.

bad() ->
    B = binary:copy(<<"x">>, 6_000_000),
    [[B, B, a], [B, <<1:3>>], [B | a], [B, B | <<1:9>>], [B, [B, 256]], [-1 | B], [B, B, [[B | -1]]]].

many() ->
    Ps = [binary:copy(<<I:8>>, 300) || I <- lists:seq(1, 30_000)],
    X = iolist_to_binary([Ps, Ps | <<"end">>]),
    {byte_size(X), erlang:crc32(X) =:= erlang:crc32([Ps, Ps, <<"end">>])}.

compressed() ->
    T = [{I, integer_to_binary(I)} || I <- lists:seq(1, 200_000)],
    B = term_to_binary(T, [compressed]),
    <<131, 80, Size:32, Z/binary>> = B,
    t:p(binary_to_term(B) =:= T),
    {T, Used} = binary_to_term(<<B/binary, "more">>, [used]),
    t:p(Used =:= byte_size(B)),
    N = byte_size(B),
    Other = term_to_binary([T, T], [compressed]),
    <<131, 80, _:32, Longer/binary>> = Other,
    [t:pc(fun() -> length(binary_to_term(X)) end) ||
        X <- [binary:part(B, 0, N - 1), binary:part(B, 0, N - 5), binary:part(B, 0, N div 2), binary:part(B, 0, 7),
              binary:part(B, 0, 6), binary:part(B, 0, 5), <<131, 80, (Size - 1):32, Z/binary>>,
              <<131, 80, (Size + 1):32, Z/binary>>, <<131, 80, Size:32, Longer/binary>>, <<131, 80, 0:32, Z/binary>>,
              <<131, 80, Size:32, 1, Z/binary>>, <<B/binary, 1, 2, 3>>]],
    L = lists:duplicate(3_000_000, 1),
    t:p(binary_to_term(term_to_binary({L, [L | x]})) =:= {L, [L | x]}).
