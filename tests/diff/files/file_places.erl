%% Where a file stands after many kinds of calls, one behind the other by chance: reads, writes and
%% positions of all forms, cutting, what is beside its place (pread, pwrite), errors, its end.
-module(file_places).
-export([main/0]).

main() ->
    Dir = t:tmp("file_places"),
    Name = filename:join(Dir, "file"),
    [t:p(Modes, run(Name, Modes, Seed)) || Modes <- modes(), Seed <- [1, 2]],
    ends(Name),
    given_away(Name),
    ok = file:del_dir_r(Dir).

modes() ->
    [[read, write, binary, raw], [read, write, binary], [read, binary, raw], [write, read, raw],
     [read, append, binary, raw], [read, write, binary, raw, {read_ahead, 100}],
     [read, write, binary, raw, {delayed_write, 200, 60000}], [read, write, binary, {read_ahead, 50}]].

run(Name, Modes, Seed) ->
    ok = file:write_file(Name, [N rem 251 || N <- lists:seq(1, 3000)]),
    {ok, F} = file:open(Name, Modes),
    Rand = rand:seed_s(exsss, {Seed, 2, 3}),
    Answers = steps(F, 400, Rand, []),
    ok = file:close(F),
    {ok, Left} = file:read_file(Name),
    {erlang:phash2(Answers), byte_size(Left), erlang:phash2(Left), lists:sublist(Answers, 6)}.

steps(_, 0, _, Done) -> lists:reverse(Done);
steps(F, N, R0, Done) ->
    {What, R1} = rand:uniform_s(14, R0),
    {A, R2} = rand:uniform_s(200, R1),
    {B, R3} = rand:uniform_s(3300, R2),
    steps(F, N - 1, R3, [t:c(fun () -> step(What, F, A, B) end) | Done]).

step(1, F, A, _) -> file:read(F, A);
step(2, F, A, _) -> file:read(F, A * 7);
step(3, F, _, B) -> file:position(F, B);
step(4, F, A, _) -> file:position(F, {cur, A - 100});
step(5, F, A, _) -> file:position(F, {eof, -A});
step(6, F, A, _) -> file:write(F, binary:copy(<<A>>, A));
step(7, F, A, B) -> file:pread(F, B, A);
step(8, F, A, B) -> file:pwrite(F, B, binary:copy(<<A>>, A));
step(9, F, A, _) when A < 20 -> {file:truncate(F), file:position(F, cur)};
step(9, F, _, _) -> file:position(F, cur);
step(10, F, A, _) -> file:position(F, {bof, -A});
step(11, F, A, _) -> [file:write(F, [binary:copy(<<N>>, N), $x]) || N <- [1, A]];
step(12, F, _, B) -> file:position(F, {bof, B});
step(13, F, A, B) -> {file:position(F, B), file:read(F, A), file:position(F, cur)};
step(14, F, A, B) -> {file:position(F, B), file:write(F, <<A, B:16>>), file:position(F, cur), file:read(F, 3)}.

ends(Name) ->
    ok = file:write_file(Name, "0123456789"),
    {ok, F} = file:open(Name, [read, write, binary, raw]),
    Far = [9, 10, 11, 1 bsl 31 - 1, 1 bsl 31, 1 bsl 40, 1 bsl 62, 1 bsl 63, -1],
    t:p([{file:position(F, N), file:read(F, 1), file:position(F, cur)} || N <- Far, N < 1 bsl 43]),
    t:p([element(1, file:position(F, N)) || N <- [1 bsl 63, -1]]),
    {ok, 8} = file:position(F, 8),
    {ok, G} = file:open(Name, [append, raw]),
    ok = file:write(G, "abc"),
    t:p([file:read(F, 4), file:read(F, 4), file:read(F, 4)]),
    ok = file:write(G, "d"),
    t:p(file:read(F, 4)),
    ok = file:close(G),
    {ok, 3} = file:position(F, 3),
    ok = file:truncate(F),
    t:p([file:read_file(Name), file:position(F, cur), file:position(F, eof), file:read(F, 1)]),
    ok = file:close(F),
    t:p([file:position(F, 1), file:read(F, 1)]).

%% Others who go by the descriptor find it where the file stands.
given_away(Name) ->
    ok = file:write_file(Name, "0123456789"),
    {ok, F} = file:open(Name, [read, binary, raw]),
    t:p([file:position(F, 3), file:read(F, 2)]),
    {ok, G} = file:open(Name ++ ".copy", [write, raw]),
    t:p(file:copy(F, G, 3)),
    t:p([file:position(F, cur), file:advise(F, 0, 0, normal), file:read(F, 1), file:datasync(F), file:read(F, 1)]),
    ok = file:close(F),
    ok = file:close(G),
    t:p(file:read_file(Name ++ ".copy")).
