%% What becomes of files whose owner ends: they are closed, and what was put aside to be written
%% later is written.
-module(file_owner).
-export([main/0]).

main() ->
    D = t:tmp("owner"),
    [t:p({Modes, How}, ends(D, Modes, How))
     || Modes <- [[raw], [], [raw, delayed_write], [delayed_write], [raw, read_ahead],
                  [raw, {delayed_write, 100, 60000}], [raw, compressed]],
        How <- [normal, killed, kill, crash]],
    [t:p({kept, Modes}, kept(D, Modes)) || Modes <- [[raw], [raw, delayed_write]]],
    t:p(others, others(D)),
    t:p(waiting, waiting(D)),
    t:p(killed, killed(D)),
    file:del_dir_r(D).

%% How many descriptors of ours that file has, once it is the number that is hoped for.
held(F, Hoped) -> held(F, Hoped, 200).

held(F, Hoped, Tries) ->
    case length([L || N <- fds(), {ok, L} <- [file:read_link(N)], L =:= F]) of
        N when N =:= Hoped; Tries =:= 0 -> N;
        _ -> timer:sleep(10), held(F, Hoped, Tries - 1)
    end.

fds() ->
    {ok, Names} = file:list_dir("/proc/self/fd"),
    [filename:join("/proc/self/fd", N) || N <- Names].

ends(D, Modes, How) ->
    F = filename:join(D, "f"),
    {P, M} = owner(F, Modes),
    Opened = held(F, 1),
    case How of
        killed -> exit(P, kill);
        _ -> P ! How
    end,
    Why = receive {'DOWN', M, process, P, W} -> why(W) end,
    Closed = held(F, 0),
    Size = filelib:file_size(F),
    Data = case file:read_file(F) of
               {ok, <<31, 139, _/binary>>} -> compressed;
               {ok, B} -> B
           end,
    file:delete(F),
    {Opened, Closed, Why, Size =:= 0, Data}.

why({Reason, [_ | _]}) -> Reason;
why(Reason) -> Reason.

owner(F, Modes) ->
    Self = self(),
    PM = spawn_monitor(fun() ->
        {ok, H} = file:open(F, [write | Modes]),
        ok = file:write(H, "said "),
        ok = file:write(H, "to be written"),
        Self ! {ready, H},
        receive normal -> ok; kill -> exit(kill); crash -> error(crash) end
    end),
    receive {ready, _} -> PM end.

%% Somebody else holds the handle, too; it is the owner's all the same.
kept(D, Modes) ->
    F = filename:join(D, "kept"),
    Self = self(),
    {P, M} = spawn_monitor(fun() ->
        {ok, H} = file:open(F, [write | Modes]),
        Self ! {handle, H},
        receive stop -> ok end
    end),
    H = receive {handle, X} -> X end,
    A = t:c(fun() -> file:write(H, "mine?") end),
    P ! stop,
    receive {'DOWN', M, process, P, _} -> ok end,
    {A, held(F, 0), t:c(fun() -> file:write(H, "mine?") end)}.

%% Any process may use an ordinary file, and it stays when one of those ends.
others(D) ->
    F = filename:join(D, "others"),
    {ok, H} = file:open(F, [write]),
    Ps = [spawn_monitor(fun() -> ok = file:write(H, "x"), exit(N) end) || N <- [normal, kill, crash]],
    Whys = [receive {'DOWN', M, process, P, W} -> W end || {P, M} <- Ps],
    {Whys, file:write(H, "y"), held(F, 1), file:close(H), held(F, 0), file:read_file(F)}.

%% Killed while a read waits.
waiting(D) ->
    F = filename:join(D, "fifo"),
    os:cmd("mkfifo " ++ F),
    {ok, W} = file:open(F, [read, write, raw]),
    Self = self(),
    {P, M} = spawn_monitor(fun() ->
        {ok, H} = file:open(F, [read, raw]),
        Self ! opened,
        file:read(H, 100)
    end),
    receive opened -> timer:sleep(50) end,
    A = held(F, 2),
    exit(P, kill),
    Why = receive {'DOWN', M, process, P, R} -> R after 5000 -> late end,
    %% The call itself ends when there is something to read.
    ok = file:write(W, lists:duplicate(200, $x)),
    B = held(F, 1),
    ok = file:close(W),
    {A, Why, B, held(F, 0)}.

%% A file's process that is killed.
killed(D) ->
    F = filename:join(D, "killed"),
    {ok, H} = file:open(F, [write, delayed_write]),
    ok = file:write(H, "said"),
    A = held(F, 1),
    exit(H, kill),
    {A, held(F, 0), file:write(H, "x"), file:close(H), file:read_file(F)}.
