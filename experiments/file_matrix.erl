%% Experiment 4: file I/O.
%%
%%   erl -noshell -s file_matrix start /tmp 100 1 8 64 1024
%%   erl -noshell -s file_matrix start /tmp 100 60ms
%%
%% A file of that many MB in that folder; then, for each block size in KB (all
%% powers of two from 1 to 1024 where none is given): sequential and random
%% reading and writing until the whole size has passed, or that many
%% milliseconds where they are given (the clock is looked at a thousand times),
%% with ordinary files (the handle is a process), raw files, and raw files with
%% read_ahead or delayed_write. One line for each cell:
%%
%%   (Pattern Handle BlockKB: Ms ms MBs MB/s)
-module(file_matrix).
-export([start/1, run/4, cell/6]).

-define(MB, 1048576).

start([Dir, MB | Rest]) ->
    {Limit, Blocks} = limit([atom_to_list(R) || R <- Rest]),
    Kilobytes = case Blocks of
                    [] -> [1 bsl Shift || Shift <- lists:seq(0, 10)];
                    _ -> [list_to_integer(B) || B <- Blocks]
                end,
    run(atom_to_list(Dir), number(MB), Limit, Kilobytes),
    halt().

%% In microseconds; `none` is more than any number.
limit([First | Blocks] = All) ->
    case string:split(First, "ms") of
        [Ms, []] -> {1000 * list_to_integer(Ms), Blocks};
        _ -> {none, All}
    end;
limit([]) ->
    {none, []}.

run(Dir, MB, Limit, Kilobytes) ->
    File = filename:join(Dir, "file_matrix." ++ os:getpid()),
    try
        [pattern(File, MB, Limit, Kilobytes, Row) || Row <- plan()],
        ok
    after
        file:delete(File)
    end.

%% Each pattern finds the file written the same way, whatever was done before: how it
%% was written decides what each call costs the kernel.
pattern(File, MB, Limit, Kilobytes, {Pattern, Handles}) ->
    fill(File, MB),
    [cell(File, Pattern, Handle, KB, MB, Limit) || Handle <- Handles, KB <- Kilobytes].

%% read_ahead helps only who reads on from where they are; delayed_write
%% gathers what is written one behind the other.
plan() ->
    [{sequential_read, [ordinary, raw, read_ahead]},
     {random_read, [ordinary, raw]},
     {sequential_write, [ordinary, raw, delayed_write]},
     {random_write, [ordinary, raw]}].

cell(File, Pattern, Handle, KB, MB, Limit) ->
    Size = MB * ?MB,
    Block = KB * 1024,
    Count = Size div Block,
    Offsets = offsets(Pattern, Count, Size - Block),
    Data = rand:bytes(Block),
    {ok, F} = file:open(File, open_modes(Pattern) ++ handle_modes(Handle)),
    ok = prepare(Pattern, F, Size),
    Start = erlang:monotonic_time(microsecond),
    Left = pieces(Pattern, F, Block, Data, Offsets, Count, piece(Count, Limit), Start, Limit),
    ok = file:close(F),
    Micros = max(1, erlang:monotonic_time(microsecond) - Start),
    io:format("(~w ~w ~wKB: ~w ms ~.1f MB/s)~n",
              [Pattern, Handle, KB, Micros div 1000, (Count - Left) * Block / Micros]).

open_modes(sequential_read) -> [read, binary];
open_modes(random_read) -> [read, binary];
open_modes(sequential_write) -> [write, binary];
open_modes(random_write) -> [read, write, binary].

handle_modes(ordinary) -> [];
handle_modes(raw) -> [raw];
handle_modes(read_ahead) -> [raw, read_ahead];
handle_modes(delayed_write) -> [raw, delayed_write].

prepare(random_write, F, Size) ->
    {ok, Size} = file:position(F, Size),
    file:truncate(F);
prepare(_, _, _) ->
    ok.

%% Drawn before the clock starts: the draw is not what is measured.
offsets(Pattern, Count, Limit) when Pattern =:= random_read; Pattern =:= random_write ->
    Seed = rand:seed_s(exsss, {1, 2, 3}),
    draw(Count, Limit, Seed, []);
offsets(_, _, _) ->
    [].

draw(0, _, _, Offsets) ->
    Offsets;
draw(Count, Limit, Seed0, Offsets) ->
    {Offset, Seed} = rand:uniform_s(Limit + 1, Seed0),
    draw(Count - 1, Limit, Seed, [Offset - 1 | Offsets]).

%% How many blocks pass between two looks at the clock.
piece(Count, none) -> Count;
piece(Count, _) -> max(1, Count div 1000).

%% How many blocks are left when all have passed or the time is up.
pieces(_, _, _, _, _, 0, _, _, _) ->
    0;
pieces(Pattern, F, Block, Data, Offsets, Left, Piece, Start, Limit) ->
    Now = min(Left, Piece),
    Rest = pass(Pattern, F, Block, Data, Now, Offsets),
    case Left - Now > 0 andalso erlang:monotonic_time(microsecond) - Start >= Limit of
        true -> Left - Now;
        false -> pieces(Pattern, F, Block, Data, Rest, Left - Now, Piece, Start, Limit)
    end.

%% The offsets that are left.
pass(sequential_read, F, Block, _, Count, _) -> read_on(F, Block, Count);
pass(sequential_write, F, _, Data, Count, _) -> write_on(F, Data, Count);
pass(random_read, F, Block, _, Count, Offsets) -> read_at(F, Block, Count, Offsets);
pass(random_write, F, _, Data, Count, Offsets) -> write_at(F, Data, Count, Offsets).

read_on(_, _, 0) ->
    [];
read_on(F, Block, Count) ->
    {ok, <<_:Block/binary>>} = file:read(F, Block),
    read_on(F, Block, Count - 1).

write_on(_, _, 0) ->
    [];
write_on(F, Data, Count) ->
    ok = file:write(F, Data),
    write_on(F, Data, Count - 1).

read_at(_, _, 0, Offsets) ->
    Offsets;
read_at(F, Block, Count, [Offset | Offsets]) ->
    {ok, Offset} = file:position(F, Offset),
    {ok, <<_:Block/binary>>} = file:read(F, Block),
    read_at(F, Block, Count - 1, Offsets).

write_at(_, _, 0, Offsets) ->
    Offsets;
write_at(F, Data, Count, [Offset | Offsets]) ->
    {ok, Offset} = file:position(F, Offset),
    ok = file:write(F, Data),
    write_at(F, Data, Count - 1, Offsets).

fill(File, MB) ->
    {ok, F} = file:open(File, [write, raw, binary]),
    Data = rand:bytes(?MB),
    [] = write_on(F, Data, MB),
    ok = file:close(F).

number(Atom) ->
    list_to_integer(atom_to_list(Atom)).
