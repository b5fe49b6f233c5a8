%% Reads of what is not in the page cache, or only in part: the same bytes, at the same positions.
-module(file_cold).
-export([main/0]).

-define(SIZE, 1500000).

main() ->
    Name = filename:join(t:tmp("cold"), "data"),
    Data = << <<(I * 2654435761):32>> || I <- lists:seq(1, ?SIZE div 4) >>,
    ok = file:write_file(Name, Data),
    [t:p({Modes, Block}, blocks(Name, Modes, Block, Data))
     || Modes <- [[raw], [], [raw, read_ahead]], Block <- [1000, 4096, 70000, 400000]],
    t:p(whole, cold(Name, [raw], fun(_) -> {ok, Data} =:= file:read_file(Name) end)),
    t:p(partly, cold(Name, [raw], fun(F) -> partly(F, Data) end)),
    t:p(scattered, cold(Name, [raw], fun(F) -> scattered(F, Data) end)),
    t:p(beyond, cold(Name, [raw], fun(F) -> beyond(F, Data) end)),
    t:p(line, cold(Name, [raw], fun(F) -> file:read_line(F) =:= line(Data) end)),
    t:p(copy, cold(Name, [], fun(F) -> {file:copy(F, Name ++ "2"), file:read_file(Name ++ "2") =:= {ok, Data}} end)),
    file:del_dir_r(filename:dirname(Name)).

cold(Name, Modes, Fun) ->
    {ok, F} = file:open(Name, [read, binary | Modes]),
    evict(F, 0, 0),
    Result = Fun(F),
    ok = file:close(F),
    Result.

evict(F, From, Length) ->
    ok = file:sync(F),
    ok = file:advise(F, From, Length, dont_need).

blocks(Name, Modes, Block, Data) ->
    cold(Name, Modes, fun(F) -> read_on(F, Block, Data, 0) end).

read_on(F, Block, Data, At) ->
    case file:read(F, Block) of
        {ok, B} ->
            B =:= binary:part(Data, At, min(Block, ?SIZE - At)) orelse error({differs, At}),
            read_on(F, Block, Data, At + byte_size(B));
        eof ->
            {eof, At, file:position(F, cur)}
    end.

%% The end is in memory, what is before is not, and the other way round.
partly(F, Data) ->
    {ok, _} = file:pread(F, 1000000, 400000),
    evict(F, 0, 1048576),
    {ok, 900000} = file:position(F, 900000),
    {ok, A} = file:read(F, 300000),
    evict(F, 1048576, 0),
    {ok, B} = file:pread(F, 1000000, 200000),
    {A =:= binary:part(Data, 900000, 300000), B =:= binary:part(Data, 1000000, 200000),
     file:position(F, cur)}.

scattered(F, Data) ->
    At = [I * 7919 * 13 rem ?SIZE || I <- lists:seq(1, 200)],
    {ok, All} = file:pread(F, [{A, 100} || A <- At]),
    lists:all(fun({A, B}) -> B =:= binary:part(Data, A, min(100, ?SIZE - A)) end, lists:zip(At, All)).

beyond(F, Data) ->
    {ok, Tail} = file:pread(F, ?SIZE - 10, 1 bsl 24),
    {Tail =:= binary:part(Data, ?SIZE - 10, 10), file:pread(F, ?SIZE, 1),
     file:pread(F, ?SIZE * 2, 1), file:read(F, 0)}.

line(Data) ->
    [First | _] = binary:split(Data, <<"\n">>),
    {ok, <<First/binary, "\n">>}.
