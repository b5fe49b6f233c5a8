%% Blocks read from a raw file, kept in all places where a process may keep something until the next
%% read and longer, or let go: what is kept holds what was read.
-module(file_blocks_kept).
-export([main/0]).

-define(BLOCKS, 120).

main() ->
    Name = filename:join(t:tmp("blocks_kept"), "data"),
    [all(Name, Size) || Size <- [100, 5000, 30000, 70000, 200000]],
    file:del_dir_r(filename:dirname(Name)).

all(Name, Size) ->
    put(name, Name),
    ok = file:write_file(Name, [block(N, Size) || N <- lists:seq(1, ?BLOCKS)]),
    {ok, F} = file:open(Name, [read, raw, binary]),
    [t:p({Size, How, from_start(F, fun() -> loop(How, F, Size, 1, []) end)}) || How <- ways()],
    ok = file:close(F).

ways() ->
    [none, all, every_third, every_twentieth, last, part, dictionary, closure, message, sent, held, matched, caught,
     before, deep, collected, table, built, two_files].

from_start(F, Fun) ->
    {ok, 0} = file:position(F, 0),
    Fun().

block(N, Size) -> binary:copy(<<N:32>>, Size div 4).

loop(How, _, Size, N, Kept) when N > ?BLOCKS -> done(How, Kept, Size);
loop(How, F, Size, N, Kept) -> loop(How, F, Size, N + 1, step(How, F, Size, N, Kept)).

read(F, Size) ->
    {ok, <<_:Size/binary>> = B} = file:read(F, Size),
    B.

step(none, F, Size, N, Kept) -> same(read(F, Size), N), Kept;
step(all, F, Size, N, Kept) -> [{N, read(F, Size)} | Kept];
step(every_third, F, Size, N, Kept) -> every(3, read(F, Size), N, Kept);
step(every_twentieth, F, Size, N, Kept) -> every(20, read(F, Size), N, Kept);
step(last, F, Size, N, _) -> [{N, read(F, Size)}];
step(part, F, Size, N, Kept) ->
    <<_:8/binary, Part:72/binary, _/binary>> = read(F, Size),
    [{N, Part} | Kept];
step(dictionary, F, Size, N, Kept) ->
    put({block, N}, read(F, Size)),
    [N | Kept];
step(closure, F, Size, N, Kept) ->
    B = read(F, Size),
    [fun() -> {N, B} end | Kept];
step(message, F, Size, N, Kept) -> self() ! {N, read(F, Size)}, Kept;
step(sent, F, Size, N, Kept) ->
    Self = self(),
    B = read(F, Size),
    P = spawn(fun() -> receive go -> Self ! {N, B} end end),
    [P | Kept];
step(held, F, Size, N, Kept) ->
    %% On the stack while others are read.
    B = read(F, Size),
    {ok, C} = file:pread(F, 0, Size),
    {ok, D} = file:pread(F, Size, Size),
    same(C, 1), same(D, 2),
    [{N, B} | Kept];
step(matched, F, Size, N, Kept) ->
    <<First:32, Rest/binary>> = read(F, Size),
    {ok, C} = file:pread(F, 0, Size),
    <<Second:32, More/binary>> = Rest,
    same(C, 1),
    [{N, <<First:32, Second:32, More/binary>>} | Kept];
step(caught, F, Size, N, Kept) ->
    try throw({N, read(F, Size)})
    catch throw:{N, B} ->
        {ok, C} = file:pread(F, 0, Size),
        same(C, 1),
        [{N, B} | Kept]
    end;
step(before, F, Size, N, Kept) ->
    %% What was made before a read and is used after it.
    Made = lists:seq(N, N + 50),
    same(read(F, Size), N),
    Made = lists:seq(N, N + 50),
    [Made | Kept];
step(deep, F, Size, N, Kept) -> [deep(N rem 300, F, Size, N) | Kept];
step(collected, F, Size, N, Kept) ->
    K = every(2, read(F, Size), N, Kept),
    N rem 7 =:= 0 andalso erlang:garbage_collect(),
    K;
step(table, F, Size, N, []) ->
    T = ets:new(t, []),
    ets:insert(T, {N, read(F, Size)}),
    [T];
step(table, F, Size, N, [T]) -> ets:insert(T, {N, read(F, Size)}), [T];
step(built, F, Size, N, []) -> step(built, F, Size, N, [<<>>]);
step(built, F, Size, _, [All]) -> [<<All/binary, (read(F, Size))/binary>>];
step(two_files, F, Size, N, []) ->
    {ok, G} = file:open(get(name), [read, raw, binary]),
    step(two_files, F, Size, N, [{G, []}]);
step(two_files, F, Size, N, [{G, Kept}]) ->
    B = read(F, Size),
    same(read(G, Size), N),
    [{G, every(2, B, N, Kept)}].

every(Nth, B, N, Kept) when N rem Nth =:= 0 -> [{N, B} | Kept];
every(_, B, N, Kept) -> same(B, N), Kept.

%% Below many frames.
deep(0, F, Size, N) -> {N, read(F, Size)};
deep(D, F, Size, N) ->
    {M, B} = deep(D - 1, F, Size, N),
    {M, B}.

same(B, N) -> B =:= block(N, byte_size(B)) orelse error({differs, N}).

done(How, Kept, Size) ->
    Pairs = kept(How, Kept, Size),
    [same(B, N) || {N, B} <- Pairs],
    length(Pairs).

kept(dictionary, Ns, _) -> [{N, erase({block, N})} || N <- Ns];
kept(closure, Funs, _) -> [Fun() || Fun <- Funs];
kept(message, _, _) -> [receive {N, B} -> {N, B} end || N <- lists:seq(1, ?BLOCKS)];
kept(sent, Ps, _) -> [begin P ! go, receive {N, B} -> {N, B} end end || P <- Ps];
kept(before, Lists, _) -> [X || [N | _] = X <- Lists, X =/= lists:seq(N, N + 50)];
kept(table, [T], _) -> All = ets:tab2list(T), ets:delete(T), All;
kept(built, [All], Size) -> [{N, binary:part(All, (N - 1) * Size, Size)} || N <- lists:seq(1, ?BLOCKS)];
kept(two_files, [{G, Kept}], _) -> ok = file:close(G), Kept;
kept(_, Kept, _) -> Kept.
