%% Text, line by line: a file of so many lines is read with io:get_line/2 and
%% file:read_line/1 (as lists and as binaries, through the file's process and
%% raw), then written with io:put_chars/2.
%%
%%   erl -noshell -s lines start 1000000
-module(lines).
-export([start/1]).

start([Lines]) ->
    Count = list_to_integer(atom_to_list(Lines)),
    File = "lines." ++ os:getpid(),
    ok = file:write_file(File, [text(N) || N <- lists:seq(1, Count)]),
    try
        [pass(File, Row, Count) || Row <- plan()]
    after
        file:delete(File)
    end,
    halt().

plan() ->
    [{get_line_list, [read], fun read/2},
     {get_line, [read, binary], fun read/2},
     {read_line_list, [read], fun read_line/2},
     {read_line, [read, binary], fun read_line/2},
     {read_line_raw, [read, binary, raw, read_ahead], fun read_line/2},
     {put_chars, [write], fun write/2}].

pass(File, {Name, Modes, Fun}, Count) ->
    {ok, F} = file:open(File, Modes),
    Start = erlang:monotonic_time(microsecond),
    Count = Fun(F, Count),
    ok = file:close(F),
    Micros = max(1, erlang:monotonic_time(microsecond) - Start),
    io:format("lines/~w ~w in ~w s~n", [Name, Count, Micros / 1000000]).

text(N) ->
    ["line ", integer_to_list(N), " of a text that nobody has to read\n"].

%% How many lines there are.
read(F, _) -> read(F, io:get_line(F, ''), 0).

read(_, eof, N) -> N;
read(F, _Line, N) -> read(F, io:get_line(F, ''), N + 1).

read_line(F, _) -> read_line(F, file:read_line(F), 0).

read_line(_, eof, N) -> N;
read_line(F, {ok, _Line}, N) -> read_line(F, file:read_line(F), N + 1).

write(F, Count) -> write(F, Count, 0).

write(_, N, N) -> N;
write(F, Count, N) ->
    ok = io:put_chars(F, "a line of a text that nobody has to read\n"),
    write(F, Count, N + 1).
