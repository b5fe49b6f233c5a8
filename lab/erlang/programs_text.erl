%% Text: JSON there and back, and the words of a large file.
-module(programs_text).
-export([documents/1, json/2, library_documents/1, json_library/2, write_text/1, words/2]).

%% So many orders, as a shop might send them.
documents(Count) ->
    [#{<<"id">> => I, <<"customer">> => <<"J\303\274rgen \"", (integer_to_binary(I))/binary, "\"\n">>,
       <<"paid">> => I rem 3 =:= 0, <<"note">> => null,
       <<"total">> => I * 1.25, <<"lines">> => [item(I, J) || J <- lists:seq(1, 5)]}
     || I <- lists:seq(1, Count)].

item(I, J) ->
    #{<<"article">> => <<"article-", (integer_to_binary(I * J))/binary>>, <<"pieces">> => J,
      <<"tags">> => [<<"new">>, <<"caf\303\251">>, <<>>], <<"price">> => J + 0.5}.

json(Count, Documents) ->
    Text = iolist_to_binary(lab_json:encode(Documents)),
    Documents = lab_json:decode(Text),
    Count = length(Documents),
    ok.

%% The same with a library that many have: mochijson2, of Debian's erlang-mochiweb.
library_documents(Count) ->
    code:which(mochijson2) =/= non_existing orelse
        programs:missing("mochijson2 (apt-get install erlang-mochiweb)"),
    documents(Count).

json_library(Count, Documents) ->
    Text = iolist_to_binary(mochijson2:encode(Documents)),
    Documents = mochijson2:decode(Text, [{format, map}]),
    Count = length(Documents),
    ok.

%% A text of so many megabytes: of words that are drawn, the first ones often.
write_text(Megabytes) ->
    Words = list_to_tuple([list_to_binary(word(I)) || I <- lists:seq(1, 20000)]),
    {Lines, Seen} = text(20000, rand:seed_s(exsss, {1, 2, 3}), Words, [], #{}),
    Part = iolist_to_binary(Lines),
    Parts = max(1, Megabytes * 1048576 div byte_size(Part)),
    ok = file:write_file(name(), lists:duplicate(Parts, Part)),
    maps:map(fun(_, N) -> N * Parts end, Seen).

name() -> "words." ++ os:getpid().

word(I) -> [$a + I rem 26 | [$a + D rem 26 || D <- integer_to_list(I * 7919)]].

text(0, _, _, Lines, Seen) -> {Lines, Seen};
text(N, S0, Words, Lines, Seen0) ->
    {Line, S, Seen} = line(10, S0, Words, [], Seen0),
    text(N - 1, S, Words, [Line, $\n | Lines], Seen).

line(0, S, _, Line, Seen) -> {Line, S, Seen};
line(N, S0, Words, Line, Seen) ->
    {X, S} = rand:uniform_s(S0),
    Word = element(1 + trunc(X * X * X * (tuple_size(Words) - 1)), Words),
    line(N - 1, S, Words, [Word, $\s | Line], maps:update_with(Word, fun(C) -> C + 1 end, 1, Seen)).

%% Reads it piece by piece, counts each word, and sorts them by how often they
%% come. The names of some are the same: that does not matter here.
words(_, Seen) ->
    {ok, File} = file:open(name(), [read, raw, binary]),
    Counts = pieces(File, <<>>, #{}),
    ok = file:close(File),
    ok = file:delete(name()),
    [{Most, _} | _] = lists:sort([{-N, W} || {W, N} <- maps:to_list(Counts)]),
    Most = -lists:max(maps:values(Seen)),
    true = Counts =:= Seen,
    ok.

pieces(File, Rest, Counts) ->
    case file:read(File, 65536) of
        {ok, Piece} ->
            {Whole, Begun} = last_word(<<Rest/binary, Piece/binary>>),
            pieces(File, Begun, count(binary:split(Whole, [<<" ">>, <<"\n">>], [global]), Counts));
        eof ->
            count([Rest], Counts)
    end.

%% What stands after the last end of a line may go on in the next piece.
last_word(Text) ->
    case binary:matches(Text, <<"\n">>) of
        [] -> {<<>>, Text};
        Ends ->
            {At, 1} = lists:last(Ends),
            <<Whole:At/binary, $\n, Begun/binary>> = Text,
            {Whole, Begun}
    end.

count([], Counts) -> Counts;
count([<<>> | Words], Counts) -> count(Words, Counts);
count([Word | Words], Counts) ->
    case Counts of
        #{Word := N} -> count(Words, Counts#{Word := N + 1});
        #{} -> count(Words, Counts#{binary:copy(Word) => 1})
    end.
