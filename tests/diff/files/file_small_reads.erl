%% Many small reads of one file, and what others do to it meanwhile: it is written to, cut, made longer,
%% removed, replaced. A machine that looks at the file's pages in memory sees what one that asks each
%% time does.
-module(file_small_reads).
-export([main/0]).

-define(SIZE, 700000).

main() ->
    D = t:tmp("small_reads"),
    persistent_term:put(data, << <<I:32>> || I <- lists:seq(1, ?SIZE div 4) >>),
    [begin
         t:p({all, Modes}, all(D, Modes)),
         t:p({written, Modes}, written(D, Modes)),
         [t:p({cut, Modes, Size}, cut(D, Modes, Size)) || Size <- [690000, 500001, 409600, 100, 0]],
         t:p({cut_and_filled, Modes}, cut_and_filled(D, Modes)),
         t:p({longer, Modes}, longer(D, Modes)),
         t:p({removed, Modes}, removed(D, Modes)),
         t:p({advised, Modes}, advised(D, Modes)),
         t:p({hole, Modes}, hole(D, Modes))
     end || Modes <- [[raw], []]],
    t:p(many, many(D)),
    t:p(at_once, at_once(D)),
    file:del_dir_r(D).

data() -> persistent_term:get(data).

%% A file, read from so often that no more need be asked of the system.
open(D, Modes) ->
    F = filename:join(D, "f"),
    ok = file:write_file(F, data()),
    {ok, H} = file:open(F, [read, binary | Modes]),
    [{ok, _} = file:read(H, 100) || _ <- lists:seq(1, 1500)],
    [{ok, _} = file:pread(H, At, 100) || At <- lists:seq(0, ?SIZE - 100, 10000)],
    {F, H}.

%% How much came, and whether it is what belongs there.
part(H, At, Size) ->
    case file:pread(H, At, Size) of
        {ok, B} -> {byte_size(B), binary:part(data(), At, byte_size(B)) =:= B};
        Other -> Other
    end.

write(F, At, Bytes) ->
    {ok, W} = file:open(F, [read, write, raw, binary]),
    ok = file:pwrite(W, At, Bytes),
    ok = file:close(W).

truncate(F, Size) ->
    {ok, W} = file:open(F, [read, write, raw]),
    {ok, Size} = file:position(W, Size),
    ok = file:truncate(W),
    ok = file:close(W).

all(D, Modes) ->
    {_, H} = open(D, Modes),
    Odd = [{At, Size} || At <- lists:seq(0, ?SIZE, 9973), Size <- [1, 65, 4096, 5000, 17000, 70000, 200000]],
    Good = [ok || {At, Size} <- Odd, part(H, At, Size) =:= {min(Size, ?SIZE - At), true}],
    {ok, 0} = file:position(H, 0),
    Same = iolist_to_binary(rest(H)) =:= data(),
    End = [part(H, At, 10000) || At <- [?SIZE - 10000, ?SIZE - 9999, ?SIZE - 4097, ?SIZE - 1, ?SIZE, ?SIZE + 1]],
    Odder = [file:read(H, 1), file:pread(H, -1, 10), file:pread(H, 10, 0), file:pread(H, 1 bsl 70, 10),
             file:pread(H, 1 bsl 62, 10), file:position(H, {eof, -3}), file:read(H, 10), file:position(H, cur)],
    ok = file:close(H),
    {length(Odd) - length(Good), Same, End, Odder, file:pread(H, 0, 1)}.

rest(H) ->
    case file:read(H, 1000) of
        {ok, B} -> [B | rest(H)];
        eof -> []
    end.

written(D, Modes) ->
    {F, H} = open(D, Modes),
    write(F, 1000, <<"new">>),
    A = file:pread(H, 998, 6),
    write(F, ?SIZE - 2, <<"end, and more">>),
    B = file:pread(H, ?SIZE - 4, 100),
    [A, B, file:close(H)].

cut(D, Modes, Size) ->
    {F, H} = open(D, Modes),
    truncate(F, Size),
    Before = [part(H, At, 100) || At <- [0, 99, Size - 100, Size - 50, Size - 1, Size, Size + 50], At >= 0],
    After = [part(H, At, N) || At <- [600000, 650000, 300000, ?SIZE - 100], N <- [1, 5000]],
    [Before, After, file:position(H, eof), file:close(H)].

%% As long again, and other bytes: none of those before may come.
cut_and_filled(D, Modes) ->
    {F, H} = open(D, Modes),
    ok = file:write_file(F, binary:copy(<<"another ">>, ?SIZE div 8)),
    A = [file:pread(H, At, 8) || At <- lists:seq(0, ?SIZE, 40000)],
    truncate(F, 0),
    truncate(F, ?SIZE),
    B = [file:pread(H, At, 4) || At <- lists:seq(0, ?SIZE, 80000)],
    [lists:usort(A), lists:usort(B), file:close(H)].

longer(D, Modes) ->
    {F, H} = open(D, Modes),
    ok = file:write_file(F, data(), [append]),
    R = [file:pread(H, At, 8) || At <- [?SIZE - 4, ?SIZE, 2 * ?SIZE - 8, 2 * ?SIZE]],
    [R, file:close(H)].

removed(D, Modes) ->
    {F, H} = open(D, Modes),
    ok = file:delete(F),
    A = [part(H, At, 5000) || At <- [0, 300000]],
    ok = file:write_file(F, "another"),
    B = part(H, 8000, 5000),
    ok = file:rename(F, F ++ "2"),
    [A, B, part(H, 16000, 10), file:close(H), file:delete(F ++ "2")].

advised(D, Modes) ->
    {_, H} = open(D, Modes),
    [[{file:advise(H, 0, 0, A), part(H, 123456, 5000)}
      || A <- [normal, sequential, random, will_need, dont_need, no_reuse, whatever]], file:close(H)].

hole(D, Modes) ->
    {F, H} = open(D, Modes),
    truncate(F, 10),
    truncate(F, 3 * ?SIZE),
    ok = file:close(H),
    {ok, G} = file:open(F, [read, binary | Modes]),
    Zeros = <<0:800>>,
    All = [B =:= Zeros || At <- lists:seq(100, 2000000, 1000), {ok, B} <- [file:pread(G, At, 100)]],
    [length(All), lists:usort(All), file:pread(G, 0, 12), file:close(G)].

many(D) ->
    Open = [open(D, [raw]) || _ <- lists:seq(1, 60)],
    R = lists:usort([part(H, 200000, 3000) || {_, H} <- Open]),
    %% Their owner, who ends, has others beside him.
    {P, M} = spawn_monitor(fun() -> [open(D, [raw]) || _ <- lists:seq(1, 20)], exit(done) end),
    receive {'DOWN', M, process, P, Why} -> ok end,
    [R, Why, lists:usort([file:close(H) || {_, H} <- Open])].

%% While it is cut and filled all the time: any length, and no end of the machine. (What is cut off
%% while it is read may come as zeros.)
at_once(D) ->
    {F, H} = open(D, [raw]),
    Self = self(),
    W = spawn_link(fun() ->
        [begin truncate(F, (N * 7919) rem ?SIZE), ok = file:write_file(F, data()) end || N <- lists:seq(1, 60)],
        Self ! done
    end),
    Readers = [spawn_link(fun() ->
        {ok, R} = file:open(F, [read, raw, binary]),
        reads(R, N, 0),
        Self ! {self(), ok}
    end) || N <- lists:seq(1, 3)],
    receive done -> ok end,
    [P ! stop || P <- Readers],
    Ends = [receive {P, R} -> R end || P <- Readers],
    ok = file:write_file(F, data()),
    {is_pid(W), Ends, part(H, 5000, 5000), file:close(H)}.

reads(R, Seed, N) ->
    case file:pread(R, (N * 7919 * Seed) rem ?SIZE, 1000) of
        {ok, B} when byte_size(B) =< 1000 -> ok;
        eof -> ok
    end,
    receive stop -> N after 0 -> reads(R, Seed, N + 1) end.
