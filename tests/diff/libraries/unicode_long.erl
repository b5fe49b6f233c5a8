%% unicode: binaries longer than what is converted at once, with characters and mistakes about its ends;
%% unaligned ones; data that takes several turns.
-module(unicode_long).
-export([main/0]).

-define(PIECE, 65536).

main() ->
    [t:p({N, at(N)}) || N <- [?PIECE - 4, ?PIECE - 3, ?PIECE - 2, ?PIECE - 1, ?PIECE, ?PIECE + 1, 2 * ?PIECE - 1, 3 * ?PIECE]],
    [t:p({N, elements(N)}) || N <- [?PIECE - 1, ?PIECE, ?PIECE + 1]],
    same(),
    long(),
    [t:p(shown(fun() -> unicode:F(D) end)) || F <- [characters_to_binary, characters_to_list],
        D <- [[lists:duplicate(300_000, 1000), bad], [lists:duplicate(300_000, 1000) | bad],
              [lists:duplicate(300_000, 1000), 16#D800, $a], [binary:copy(<<"ab">>, 100_000), <<1:1>>]]].

%% What stands behind so many bytes: characters of all lengths, and what is none.
at(N) ->
    A = binary:copy(<<"a">>, N),
    Ends = [<<>>, <<"é"/utf8>>, <<"€"/utf8>>, <<"𝄞"/utf8>>, <<16#C3>>, <<16#E2, 16#82>>, <<16#F0, 16#9D, 16#84>>, <<255>>,
            <<16#C3, "b">>, <<16#E2, 16#82, "b">>, <<16#ED, 16#A0, 16#80>>, <<16#F4, 16#90, 16#80, 16#80>>],
    [[shown(fun() -> unicode:F(D, E) end) || F <- [characters_to_binary, characters_to_list], E <- [utf8, latin1]]
     || End <- Ends, B <- [<<A/binary, End/binary>>, <<A/binary, End/binary, A/binary>>], D <- [B, askew(B)]].

%% The same within lists, where a character may go on in the next element.
elements(N) ->
    A = binary:copy(<<"a">>, N),
    [shown(fun() -> unicode:F(D) end) || F <- [characters_to_binary, characters_to_list],
        D <- [[<<A/binary, 16#E2>>, <<16#82>>, <<16#AC, A/binary>>], [<<A/binary, 16#E2>>, <<16#82, 16#28, A/binary>>, $b],
              [[<<A/binary, 255, A/binary>>], "tail" | A], [1000, <<A/binary, 16#E2>> | <<16#82, 16#AC, A/binary>>],
              [[[<<A/binary, 16#E2>>]], $a], [<<A/binary, 16#E2>>, <<>>, <<16#82, 16#AC>>, A]]].

askew(B) ->
    <<_:3, C/binary>> = <<5:3, B/binary>>,
    C.

%% A binary that is right is its own answer.
same() ->
    B = binary:copy(<<"a€𝄞"/utf8>>, 500_000),
    t:p(erts_debug:same(B, unicode:characters_to_binary(B))),
    t:p(erts_debug:same(B, unicode:characters_to_binary([B]))),
    t:p(unicode:characters_to_binary([B, B]) =:= <<B/binary, B/binary>>),
    t:p(unicode:characters_to_binary(B, latin1) =:= unicode:characters_to_binary(binary_to_list(B))),
    A = binary:copy(<<"ascii">>, 1_000_000),
    t:p([erts_debug:same(A, unicode:characters_to_binary(A, E)) || E <- [latin1, utf8]]).

long() ->
    [begin
         L = lists:duplicate(600_000, C),
         B = unicode:characters_to_binary(L),
         t:p({byte_size(B), unicode:characters_to_list(B) =:= L, unicode:characters_to_binary([L, [L | B]]) =:= <<B/binary, B/binary, B/binary>>})
     end || C <- [$a, 1000, 16#20AC, 16#1D11E]].

shown(F) -> short(t:c(F)).
short({error, badarg}) -> badarg;
short({E, Good, Rest}) -> {E, short(Good), short(Rest)};
short(B) when is_binary(B) -> {byte_size(B), erlang:crc32(B)};
short([_ | _] = L) ->
    try {length(L), erlang:phash2(L)} catch error:badarg -> improper end;
short(X) -> X.
