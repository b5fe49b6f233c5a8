%% Whole files: file:read_file/1 of 1 KB, 1 MB and 100 MB, that many times each.
%% The files stay in the working folder for those who come next.
%%
%%   erl -noshell -s readfile start 50000 1000 5
-module(readfile).
-export([start/1]).

start(Counts) ->
    [pass(KB, list_to_integer(atom_to_list(Count)))
     || {KB, Count} <- lists:zip([1, 1024, 102400], Counts)],
    halt().

pass(KB, Count) ->
    File = "readfile." ++ integer_to_list(KB),
    Size = KB * 1024,
    Size =:= filelib:file_size(File) orelse fill(File, Size),
    %% Whoever comes first finds it in memory, too.
    ok = read(File, Size, 1),
    Start = erlang:monotonic_time(microsecond),
    ok = read(File, Size, Count),
    Micros = max(1, erlang:monotonic_time(microsecond) - Start),
    io:format("readfile/~w ~w in ~w s~n", [KB, Count, Micros / 1000000]).

read(_, _, 0) -> ok;
read(File, Size, N) ->
    {ok, <<_:Size/binary>>} = file:read_file(File),
    read(File, Size, N - 1).

fill(File, Size) ->
    ok = file:write_file(File, binary:copy(rand:bytes(1024), Size div 1024)).
