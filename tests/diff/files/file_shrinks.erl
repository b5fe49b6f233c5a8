%% Files that others cut, remove or replace while they are read, and folders that go while they are
%% in use.
-module(file_shrinks).
-export([main/0]).

main() ->
    D = t:tmp("shrinks"),
    persistent_term:put(data, << <<I:32>> || I <- lists:seq(1, 25000) >>),
    [t:p({cut, Modes}, cut(D, Modes)) || Modes <- [[raw], [raw, read_ahead], [], [read_ahead]]],
    [t:p({grown, Modes}, grown(D, Modes)) || Modes <- [[raw], [raw, read_ahead], []]],
    t:p(whole, whole(D)),
    [t:p({removed, Modes}, removed(D, Modes)) || Modes <- [[raw], []]],
    t:p(folder, folder(D)),
    t:p(here, here(D)),
    file:del_dir_r(D).

data() -> persistent_term:get(data).

make(D) ->
    F = filename:join(D, "f"),
    ok = file:write_file(F, data()),
    F.

%% What is left of an answer: how much, and whether it is what was there.
part({ok, B}, At) -> {byte_size(B), binary:part(data(), At, byte_size(B)) =:= B};
part(Other, _) -> Other.

cut(D, Modes) ->
    F = make(D),
    {ok, H} = file:open(F, [read, binary | Modes]),
    First = part(file:read(H, 10000), 0),
    truncate(F, 15000),
    Rest = all(H, 10000, []),
    Results = [First, total(Rest, 10000), file:read(H, 1), file:position(H, cur),
               file:pread(H, 20000, 10), part(file:pread(H, 14000, 5000), 14000),
               file:position(H, eof), file:position(H, 2000)],
    truncate(F, 0),
    %% What was read ahead may still come.
    [file:read(H, 100000) || _ <- [1, 2]],
    [Results, file:read(H, 10), file:pread(H, 0, 1), file:close(H)].

%% Read ahead, more may come than there is now, but nothing that was not there.
total(Parts, At) ->
    Size = iolist_size(Parts),
    {Size >= 5000, binary:part(data(), At, Size) =:= iolist_to_binary(Parts)}.

all(H, At, Parts) ->
    case file:read(H, 3000) of
        {ok, B} -> all(H, At + byte_size(B), [Parts, B]);
        eof -> Parts
    end.

truncate(F, Size) ->
    {ok, W} = file:open(F, [read, write, raw]),
    {ok, Size} = file:position(W, Size),
    ok = file:truncate(W),
    ok = file:close(W).

%% One that has come to the end sees what is added later.
grown(D, Modes) ->
    F = filename:join(D, "g"),
    ok = file:write_file(F, "one\n"),
    {ok, H} = file:open(F, [read, binary | Modes]),
    A = [file:read_line(H), file:read_line(H), file:read(H, 3)],
    ok = file:write_file(F, "two\nthr", [append]),
    B = [file:read_line(H), file:read_line(H), file:read_line(H)],
    ok = file:write_file(F, "ee\n", [append]),
    C = [file:read_line(H), file:read_line(H)],
    file:close(H),
    {A, B, C}.

%% Whole files while their length changes: some length that one moment had. (What is cut off while it
%% is read may come as zeros.)
whole(D) ->
    F = make(D),
    Self = self(),
    W = spawn_link(fun() -> sawtooth(F, 100), Self ! done end),
    Good = reads(F, 0),
    {is_pid(W), Good > 0}.

sawtooth(_, 0) -> ok;
sawtooth(F, N) ->
    truncate(F, (N * 7919) rem 100000),
    ok = file:write_file(F, data()),
    sawtooth(F, N - 1).

reads(F, N) ->
    {ok, B} = file:read_file(F),
    Size = byte_size(B),
    true = Size =< 100000,
    receive done -> N + 1 after 0 -> reads(F, N + 1) end.

%% The name goes, the file stays until it is closed.
removed(D, Modes) ->
    F = make(D),
    {ok, H} = file:open(F, [read, write, binary | Modes]),
    ok = file:delete(F),
    R = [file:delete(F), part(file:read(H, 10), 0), file:pwrite(H, 0, "new"), file:pread(H, 0, 5),
         file:position(H, eof), file:read_file_info(F), file:open(F, [read]), file:sync(H)],
    ok = file:write_file(F, "another"),
    S = [file:pread(H, 0, 3), file:close(H), file:read_file(F)],
    file:delete(F),
    {R, S}.

folder(D) ->
    Sub = filename:join(D, "sub"),
    F = filename:join(Sub, "f"),
    ok = filelib:ensure_dir(F),
    {ok, H} = file:open(F, [read, write, raw, binary]),
    {ok, Dir} = file:open(Sub, [read, raw, directory]),
    Full = file:del_dir(Sub),
    ok = file:write(H, "abc"),
    ok = file:del_dir_r(Sub),
    R = [Full, file:write(H, "def"), file:pread(H, 0, 10), file:sync(H), file:close(H),
         file:sync(Dir), file:read(Dir, 1), file:close(Dir),
         file:list_dir(Sub), file:open(F, [write]), file:write_file(F, "x"), file:make_dir(F),
         file:rename(Sub, Sub ++ "2"), file:del_dir(Sub), file:read_link(Sub), filelib:is_dir(Sub),
         file:set_cwd(Sub), filelib:wildcard("*", Sub), file:make_symlink("a", F)],
    R.

%% The folder where the machine itself stands.
here(D) ->
    Sub = filename:join(D, "here"),
    ok = file:make_dir(Sub),
    {ok, Old} = file:get_cwd(),
    ok = file:set_cwd(Sub),
    ok = file:write_file("f", "1"),
    ok = file:del_dir_r(Sub),
    R = [file:get_cwd(), file:read_file("f"), file:write_file("f", "2"), file:list_dir("."),
         file:list_dir(".."), filelib:wildcard("*"), file:make_dir("d"), file:set_cwd("..")],
    ok = file:set_cwd(Old),
    {R, element(1, file:get_cwd())}.
