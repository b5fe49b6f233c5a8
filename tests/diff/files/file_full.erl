%% A disk that is full in the middle of a write: what was said to be written is there, and the error
%% is told to whoever wrote. On a small tmpfs, where this program may mount one; elsewhere only
%% /dev/full is tried, and the program says what it says where it may.
-module(file_full).
-export([main/0]).

-define(BLOCK, 50000).

main() ->
    process_flag(trap_exit, true),
    D = t:tmp("full"),
    t:p(device, device()),
    case os:cmd("mount -t tmpfs -o size=1m none '" ++ D ++ "' 2>&1") of
        "" ->
            try said(disk(D)) after os:cmd("umount -l '" ++ D ++ "'") end;
        _ ->
            said(expected())
    end,
    file:del_dir_r(D).

said(Results) ->
    [t:p(Name, Result) || {Name, Result} <- Results].

%% What the same came to where a tmpfs could be mounted. It holds 256 pages.
expected() ->
    [{{write, [raw]}, [{20, {error, enospc}}, true, true]},
     {{write, [raw, sync]}, [{20, {error, enospc}}, true, true]},
     {{write, [append, raw]}, [{20, {error, enospc}}, true, true]},
     {{write, []}, [{20, {error, enospc}}, true, {error, terminated}]},
     {{write, [delayed_write]}, [{late, {error, enospc}}, true, {error, terminated}]},
     {{write, [raw, delayed_write]}, [{late, {error, enospc}}, true, true]},
     {pwrite, {20, {error, enospc}}},
     {pwrite_list, {error, {20, enospc}}},
     {slices, {{error, enospc}, 1048576}},
     {write_file, [{error, enospc}, ok]},
     {copy, {{error, enospc}, true}},
     {io, {error, badarg}},
     {allocate, {error, enospc}},
     {make_dir, ok},
     {again, [ok, {ok, <<"room">>}]}].

device() ->
    {ok, F} = file:open("/dev/full", [write, raw]),
    {ok, G} = file:open("/dev/full", [write]),
    {ok, H} = file:open("/dev/full", [write, raw, delayed_write]),
    [file:write(F, "x"), file:write(F, <<0:800000>>), file:write(F, []), file:close(F),
     file:write(G, "x"), stopped(G),
     file:write(H, "x"), file:close(H),
     file:write_file("/dev/full", "x")].

disk(D) ->
    F = filename:join(D, "f"),
    Modes = [[raw], [raw, sync], [append, raw], [], [delayed_write], [raw, delayed_write]],
    [{{write, M}, written(F, M)} || M <- Modes] ++
        [{Name, begin R = Fun(), file:delete(F), R end} || {Name, Fun} <- others(D, F)].

block(N) -> binary:copy(<<N>>, ?BLOCK).

%% Blocks are written until one can't be: how many could, whether all of those are there, and that it
%% fails again.
written(F, Modes) ->
    {ok, H} = file:open(F, [write | Modes]),
    {Count, Error} = until_full(H, 0),
    {ok, Data} = file:read_file(F),
    Delayed = lists:member(delayed_write, Modes),
    There = << <<(block(N))/binary>> || N <- lists:seq(0, Count - 1) >>,
    Result =
        [{case Delayed of true -> late; false -> Count end, Error},
         %% What was only put aside may be lost.
         Delayed orelse prefix(There, Data),
         case lists:member(raw, Modes) of
             true -> full(H, Delayed);
             false -> stopped(H)
         end],
    file:delete(F),
    Result.

full(H, true) -> file:close(H), true;
full(H, false) ->
    Again = file:write(H, block(0)) =:= {error, enospc},
    Again andalso file:close(H) =:= ok.

prefix(A, B) ->
    byte_size(B) >= byte_size(A) andalso binary:part(B, 0, byte_size(A)) =:= A.

until_full(H, N) ->
    case file:write(H, block(N)) of
        ok when N < 100 -> until_full(H, N + 1);
        Other -> {N, Other}
    end.

%% An ordinary file's process ends with the error.
stopped(H) ->
    M = monitor(process, H),
    receive {'DOWN', M, process, H, _} -> file:write(H, "more") after 5000 -> goes_on end.

others(D, F) ->
    [{pwrite, fun() ->
         {ok, H} = file:open(F, [write, raw]),
         R = pwrite_on(H, 0),
         file:close(H),
         R
     end},
     {pwrite_list, fun() ->
         {ok, H} = file:open(F, [write, raw]),
         R = file:pwrite(H, [{N * ?BLOCK, block(N)} || N <- lists:seq(0, 30)]),
         file:close(H),
         R
     end},
     {slices, fun() ->
         {ok, H} = file:open(F, [write, raw]),
         R = file:write(H, [block(N) || N <- lists:seq(0, 30)]),
         file:close(H),
         {R, filelib:file_size(F)}
     end},
     {write_file, fun() ->
         [file:write_file(F, binary:copy(<<1>>, 2000000)), file:write_file(F, "small")]
     end},
     {copy, fun() ->
         file:write_file(F, block(1)),
         Large = filename:join(filename:dirname(D), "large." ++ os:getpid()),
         file:write_file(Large, binary:copy(<<2>>, 1500000)),
         R = file:copy(Large, F),
         file:delete(Large),
         {R, filelib:file_size(F) > 900000}
     end},
     {io, fun() ->
         {ok, H} = file:open(F, [write]),
         lines(H, lists:duplicate(9999, $x))
     end},
     {allocate, fun() ->
         {ok, H} = file:open(F, [write, raw]),
         R = file:allocate(H, 0, 5000000),
         file:close(H),
         R
     end},
     {make_dir, fun() -> file:make_dir(filename:join(D, "d")) end},
     {again, fun() -> [file:write_file(F, "room"), file:read_file(F)] end}].

pwrite_on(H, N) ->
    case file:pwrite(H, N * ?BLOCK, block(N)) of
        ok when N < 100 -> pwrite_on(H, N + 1);
        Other -> {N, Other}
    end.

lines(H, Text) ->
    case t:c(fun() -> io:put_chars(H, [Text, "\n"]) end) of
        ok -> lines(H, Text);
        Other -> Other
    end.
