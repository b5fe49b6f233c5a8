%% Files that make who reads them wait: FIFOs. Nobody else waits with them.
-module(file_fifo).
-export([main/0]).

main() ->
    D = t:tmp("file_fifo"),
    F = filename:join(D, "fifo"),
    filelib:ensure_dir(F),
    os:cmd("mkfifo " ++ F),
    S = self(),
    Read = fun(Fun) -> spawn(fun() -> S ! {read, Fun()} end) end,
    Got = fun() -> receive {read, R} -> R after 5000 -> none end end,
    Read(fun() -> prim_file:read_file(F) end),
    {ok, W0} = file:open(F, [write, raw]),
    t:p({whole, file:write(W0, "through the pipe"), file:close(W0), Got()}),
    Read(fun() -> {ok, H} = file:open(F, [read, raw]),
                  R = [file:read(H, 3), file:read(H, 3), file:read(H, 3), file:read_line(H), file:read(H, 1), file:read(H, 1)],
                  {R, file:close(H)} end),
    {ok, W} = file:open(F, [write, raw]),
    t:p([file:write(W, "abc"), file:write(W, "de"), file:write(W, "fg"), file:write(W, "hi\nj"), file:position(W, 0)]),
    file:close(W),
    t:p(Got()),
    %% Eight wait for a writer, and the clock still ticks.
    Waiting = [spawn(fun() -> {ok, H} = file:open(F, [read, raw]), S ! {self(), file:read(H, 5)}, receive never -> H end end) || _ <- lists:seq(1, 8)],
    t:p(ticks(20, 0)),
    {ok, W2} = file:open(F, [write, raw]),
    t:p(ticks(20, 0)),
    [begin file:write(W2, "12345"), timer:sleep(1) end || _ <- Waiting],
    t:p([receive {Pid, R} -> R after 5000 -> none end || Pid <- Waiting]),
    %% One that is killed while it waits.
    {P, M} = spawn_monitor(fun() -> {ok, H} = file:open(F, [read, raw]), S ! opened, file:read(H, 5) end),
    receive opened -> ok end,
    timer:sleep(20),
    exit(P, kill),
    file:write(W2, "67890"),
    t:p(receive {'DOWN', M, _, _, Why} -> Why after 5000 -> none end),
    file:close(W2),
    file:del_dir_r(D).

%% How many of these were late by more than a second.
ticks(0, Late) -> {late, Late};
ticks(N, Late) ->
    T = erlang:monotonic_time(millisecond),
    timer:sleep(5),
    case erlang:monotonic_time(millisecond) - T of
        Ms when Ms > 1000 -> ticks(N - 1, Late + 1);
        _ -> ticks(N - 1, Late)
    end.
