%% Where a file stands that was empty when it was opened and is written to often: by what others see,
%% by positions, after it was cut, and in /proc; and one of any kind whose descriptor was given away.
-module(file_new_places).
-export([main/0]).

main() ->
    Dir = t:tmp("file_new_places"),
    Name = filename:join(Dir, "file"),
    [t:p({Modes, Before}, run(Name, Modes, Before))
     || Modes <- modes(), Before <- [0, 1, 31, 32, 33, 34, 90]],
    [t:p({cut, Before}, cut(Name, Before)) || Before <- [5, 33, 70]],
    [t:p({given, Old, Before}, given(Name, Old, Before)) || Old <- [0, 300], Before <- [0, 5, 33, 70]],
    t:p(proc, proc()),
    ok = file:del_dir_r(Dir).

modes() ->
    [[write, raw], [read, write, raw], [write], [append, raw], [exclusive, raw], [write, sync, raw],
     [write, raw, {delayed_write, 100, 60000}], [read, write, raw, {read_ahead, 64}]].

run(Name, Modes, Before) ->
    _ = file:delete(Name),
    {ok, F} = file:open(Name, Modes),
    [ok = file:write(F, piece(N)) || N <- lists:seq(1, Before)],
    Answers =
        [file:position(F, cur), file:write(F, <<"one">>), file:position(F, {cur, -1}),
         file:write(F, [<<"two">>, "three"]), file:read(F, 5), file:position(F, {eof, 3}),
         file:write(F, <<"behind">>), file:pwrite(F, 2, <<"at two">>), file:position(F, cur),
         file:pread(F, 0, 4), file:position(F, bof), file:write(F, <<"first">>),
         file:position(F, {bof, -1}), file:read(F, 3), file:position(F, cur),
         [file:write(F, piece(N)) || N <- lists:seq(1, 40)], file:position(F, cur)],
    ok = file:close(F),
    {ok, Left} = file:read_file(Name),
    {Answers, byte_size(Left), erlang:phash2(Left)}.

piece(N) -> binary:copy(<<N>>, N rem 7).

%% Cut by another: what is written then lies behind a hole.
cut(Name, Before) ->
    _ = file:delete(Name),
    {ok, F} = file:open(Name, [write, raw]),
    [ok = file:write(F, <<"abc">>) || _ <- lists:seq(1, Before)],
    {ok, G} = file:open(Name, [read, write, raw, binary]),
    ok = file:truncate(G),
    ok = file:write(F, <<"more">>),
    Seen = file:read(G, 1000),
    {ok, _} = file:position(F, 2),
    ok = file:truncate(F),
    Cut = file:read_file(Name),
    ok = file:write(F, <<"again">>),
    ok = file:close(F),
    ok = file:close(G),
    {Seen, Cut, file:read_file(Name)}.

%% Who was given the descriptor writes where the file stands, and moves it.
given(Name, Old, Before) ->
    ok = file:write_file(Name, binary:copy(<<"o">>, Old)),
    {ok, F} = file:open(Name, [read, write, raw, binary]),
    {file_descriptor, prim_file, #{handle := _}} = F,
    [ok = file:write(F, <<"abc">>) || _ <- lists:seq(1, Before)],
    <<Number:32/native>> = prim_file:get_handle(F),
    Through = "/proc/self/fdinfo/" ++ integer_to_list(Number),
    Place = fun () ->
                {ok, Text} = file:read_file(Through),
                hd(binary:split(Text, <<"\n">>))
            end,
    First = Place(),
    [ok = file:write(F, <<"abc">>) || _ <- lists:seq(1, 40)],
    Second = Place(),
    {ok, 7} = file:position(F, 7),
    Third = Place(),
    {ok, _} = file:read(F, 3),
    Fourth = Place(),
    ok = file:close(F),
    {First, Second, Third, Fourth}.

%% Has no size, whatever is written there.
proc() ->
    {ok, F} = file:open("/proc/self/comm", [read, write, raw, binary]),
    {ok, Was} = file:pread(F, 0, 100),
    Answers = [file:write(F, <<"kv", (N + $0), "\n">>) || N <- lists:seq(0, 40)],
    Place = file:position(F, cur),
    Seen = {file:read(F, 10), file:pread(F, 0, 10)},
    {ok, 0} = file:position(F, 0),
    ok = file:write(F, Was),
    {lists:usort(Answers), Place, Seen, file:close(F)}.
