%% Lines of a raw file, whatever is read ahead: short and long ones, empty ones, those that end in
%% CR LF, with a CR within, where a piece that was read ends, and a last one without an end.
-module(file_raw_lines).
-export([main/0]).

-define(FILE_NAME, "raw_lines").

main() ->
    ok = file:write_file(?FILE_NAME, text()),
    [io:format("~p: ~p~n", [Ahead, read(Ahead)]) || Ahead <- [none, 1, 2, 7, 64, 511, 512, 513, 4096, 65536]],
    [io:format("mixed ~p: ~p~n", [Ahead, mixed(Ahead)]) || Ahead <- [none, 7, 512, 65536]],
    ok = file:delete(?FILE_NAME).

text() ->
    Lengths = [0, 1, 0, 2, 61, 62, 63, 64, 65, 66, 509, 510, 511, 512, 513, 1200, 3, 0],
    Ends = ["\n", "\r\n", "\r\r\n", "\n\r", "\r", "\n\n", "x\n"],
    [[lists:duplicate(N, $a + N rem 26), End] || End <- Ends, N <- Lengths] ++ ["the end"].

open(none) -> open_as([]);
open(Ahead) -> open_as([{read_ahead, Ahead}]).

open_as(More) ->
    {ok, F} = file:open(?FILE_NAME, [read, raw, binary | More]),
    F.

%% How many lines, how many bytes, and what they are.
read(Ahead) ->
    F = open(Ahead),
    Lines = lines(F),
    ok = file:close(F),
    {length(Lines), iolist_size(Lines), erlang:crc32(term_to_binary(Lines))}.

lines(F) ->
    case file:read_line(F) of
        {ok, Line} -> [Line | lines(F)];
        eof -> []
    end.

%% Lines, bytes and places by turns.
mixed(Ahead) ->
    F = open(Ahead),
    All = mixed(F, 1),
    ok = file:close(F),
    {length(All), erlang:crc32(term_to_binary(All))}.

mixed(F, N) ->
    Got = case N rem 4 of
              0 -> file:read(F, N);
              1 -> file:position(F, {cur, 3});
              _ -> file:read_line(F)
          end,
    case Got of
        eof -> [];
        {ok, _} -> [Got | mixed(F, N + 1)]
    end.
