%% Large writes, one behind the other, at odd places and into what is there: what is in the file then,
%% and where it stands. With a bound on the file's size: what was written before the error.
-module(file_pieces).
-export([main/0]).

-define(KB, 1024).

main() ->
    Dir = t:tmp("file_pieces"),
    Name = filename:join(Dir, "file"),
    [t:p({Modes, Shift}, run(Name, Modes, Shift)) || Modes <- modes(), Shift <- [0, 1, 4095, 300000]],
    t:p(bounded, [bounded(Name, KB) || KB <- [300, 512, 700, 2000]]),
    ok = file:del_dir_r(Dir).

modes() ->
    [[write, raw], [read, write, raw], [write], [append, raw], [write, sync, raw],
     [write, raw, {delayed_write, 600 * ?KB, 60000}]].

run(Name, Modes, Shift) ->
    _ = file:delete(Name),
    {ok, F} = file:open(Name, Modes),
    Small = [file:write(F, bytes(Shift div 40 + 1, N)) || N <- lists:seq(1, 40)],
    Large = bytes(700 * ?KB, 1),
    Answers =
        [lists:usort(Small), file:write(F, Large), file:position(F, cur),
         file:write(F, [bytes(17, 2), Large, bytes(300, 3) | Large]), file:position(F, cur),
         file:pwrite(F, Shift + 5, bytes(600 * ?KB, 4)), file:position(F, cur),
         file:pwrite(F, [{Shift, bytes(257 * ?KB, 5)}, {Shift + 3000000, bytes(?KB, 6)}]),
         file:position(F, {bof, Shift}), file:write(F, bytes(5000 * ?KB, 7)), file:position(F, cur),
         file:write(F, [bytes(64 * ?KB, N) || N <- lists:seq(1, 80)]), file:position(F, {cur, 0})],
    ok = file:close(F),
    {ok, Left} = file:read_file(Name),
    {Answers, byte_size(Left), erlang:phash2(Left)}.

bytes(Size, N) ->
    Line = << <<(N * I rem 251)>> || I <- lists:seq(1, 997) >>,
    binary:part(binary:copy(Line, Size div 997 + 1), 0, Size).

%% In a program that may write no larger files.
bounded(Name, KB) ->
    _ = file:delete(Name),
    Code = "{ok,F}=file:open(hd(init:get_plain_arguments()),[write,raw]),"
        "io:format(\"~p\",[{file:write(F,binary:copy(<<7>>,1 bsl 20)),file:position(F,cur)}]),halt().",
    {ok, [[Program]]} = init:get_argument(progname),
    Script = ["trap '' XFSZ; ulimit -f ", integer_to_list(KB), "; exec ", Program,
              " -noshell -eval '", Code, "' -extra '", Name, "'"],
    Port = open_port({spawn_executable, "/bin/bash"},
                     [{args, ["-c", lists:flatten(Script)]}, exit_status, binary]),
    {answer(Port, <<>>), filelib:file_size(Name)}.

answer(Port, Before) ->
    receive
        {Port, {data, More}} -> answer(Port, <<Before/binary, More/binary>>);
        {Port, {exit_status, N}} -> {N, Before}
    end.
