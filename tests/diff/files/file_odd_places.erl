%% Reads and writes at places that are not at the beginning of a page, of one file and in one place of it
%% after another: what comes is what is there, and no more than there is.
-module(file_odd_places).
-export([main/0]).

-define(SIZE, 3000000).

main() ->
    D = t:tmp("odd_places"),
    F = filename:join(D, "f"),
    Data = << <<I:32>> || I <- lists:seq(1, ?SIZE div 4) >>,
    ok = file:write_file(F, Data),
    [begin
         {ok, H} = file:open(F, [binary | Modes]),
         t:p({at, Modes}, at(H, Data)),
         t:p({on, Modes}, [on(H, Data, Start, Size) || Start <- [0, 1, 16, 31, 40], Size <- [5000, 65536, 300001]]),
         t:p({beyond, Modes}, beyond(H, Data)),
         t:p({cut, Modes}, cut(F, H, Data)),
         ok = file:write_file(F, Data),
         ok = file:close(H)
     end || Modes <- [[read, raw], [read, write, raw], [read]]],
    [t:p({written, Modes}, written(F, Modes, Data)) || Modes <- [[raw], []]],
    file:del_dir_r(D).

%% How many of the reads brought what is there.
at(H, Data) ->
    Reads = [{Page * 4096 + Odd, Size}
             || Odd <- lists:seq(0, 70), Page <- [0, 3, 100], Size <- [4095, 4096, 12345, 70000, 600000]],
    {length([ok || {At, Size} <- Reads, file:pread(H, At, Size) =:= {ok, binary:part(Data, At, Size)}]),
     length(Reads)}.

%% From one place to the end.
on(H, Data, Start, Size) ->
    {ok, Start} = file:position(H, Start),
    Rest = iolist_to_binary(rest(H, Size)),
    Rest =:= binary:part(Data, Start, ?SIZE - Start).

rest(H, Size) ->
    case file:read(H, Size) of
        {ok, B} -> [B | rest(H, Size)];
        eof -> []
    end.

%% More than there is, after so much was there.
beyond(H, Data) ->
    {ok, _} = file:pread(H, 17, 2000000),
    Tail = fun(Left) ->
                   case file:pread(H, ?SIZE - Left, 2000000) of
                       {ok, B} -> {byte_size(B), B =:= binary:part(Data, ?SIZE - Left, Left)};
                       Other -> Other
                   end
           end,
    [Tail(Left) || Left <- [1999999, 1000001, 4097, 50, 1, 0]].

%% A file that is shorter than it was.
cut(F, H, Data) ->
    {ok, _} = file:pread(H, 0, 2500000),
    ok = file:write_file(F, binary:part(Data, 0, 100000)),
    [case file:pread(H, At, 2500000) of
         {ok, B} -> {byte_size(B), B =:= binary:part(Data, At, byte_size(B))};
         Other -> Other
     end || At <- [0, 31, 99990, 100000, 200000]].

%% Blocks behind a header of each length, and blocks at odd places.
written(F, Modes, Data) ->
    Written = [begin
                   {ok, H} = file:open(F, [write, binary | Modes]),
                   Head = binary:part(Data, 0, N),
                   ok = file:write(H, Head),
                   Blocks = [binary:part(Data, N + Size * I, Size) || I <- lists:seq(0, 4)],
                   [ok = file:write(H, B) || B <- Blocks],
                   ok = file:pwrite(H, Size, hd(Blocks)),
                   ok = file:close(H),
                   {ok, There} = file:read_file(F),
                   <<Before:Size/binary, _:Size/binary, Behind/binary>> = binary:part(Data, 0, N + 5 * Size),
                   There =:= <<Before/binary, (hd(Blocks))/binary, Behind/binary>>
               end || N <- lists:seq(0, 130, 3), Size <- [5000, 66000]],
    {length([ok || true <- Written]), length(Written)}.
