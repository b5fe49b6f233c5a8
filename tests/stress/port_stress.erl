%% Programs behind ports that behave badly, and many of them: cases of tests/stress/run, beside those
%% of stress.erl.
-module(port_stress).
-export([run/1]).

%% MB that the machine may take more than before.
-define(MORE, 200).

%% ---- a program that never reads, and many who write to it ----

run(deaf) ->
    Before = stress:rss(),
    P = open_port({spawn_executable, "/bin/sleep"}, [{args, ["600"]}]),
    Owner = self(),
    Data = binary:copy(<<"x">>, 100000),
    Each = fun (I) when I rem 2 =:= 0 -> fun () -> port_command(P, Data) end;
               (_) -> fun () -> P ! {Owner, {command, Data}} end
           end,
    Ws = [spawn(fun () -> forever(Each(I)) end) || I <- lists:seq(1, 500)],
    [suspended(W) || W <- Ws],
    {queue_size, Queued} = erlang:port_info(P, queue_size),
    %% Others go on, and other ports.
    Cat = cat(),
    stress:times(1000, fun () ->
        port_command(Cat, "hello\n"),
        receive {Cat, {data, {eol, "hello"}}} -> ok after 5000 -> error(kept_waiting) end
    end),
    {queue_size, Queued} = erlang:port_info(P, queue_size),
    More = (stress:rss() - Before) div 1024,
    true = More < ?MORE,
    [exit(W, kill) || W <- Ws],
    closed(P, kill),
    closed(Cat, kill),
    io_lib:format("~b KB wait, ~b MB more, ", [Queued div 1024, More]);

%% ---- many who send many small lines at once, each in turns with others of its port ----

run(bursts) ->
    Owners = [spawn_link(fun() -> lines_of(I) end) || I <- lists:seq(1, 40)],
    N = lists:sum([receive {'EXIT', O, {lines, Lines}} -> Lines after 60000 -> error(lost) end || O <- Owners]),
    io_lib:format("~b lines, ", [N]);

%% ---- a program that writes a gigabyte at once ----

run(flood) ->
    Before = stress:rss(),
    Bytes = 1000000000,
    P = open_port({spawn, "head -c " ++ integer_to_list(Bytes) ++ " /dev/zero"}, [binary, exit_status]),
    {Bytes, Most} = count(P, 0, 0),
    receive {'EXIT', P, normal} -> ok end,
    io_lib:format("~b MB more at most, ", [max(0, Most - Before) div 1024]);

%% ---- a thousand programs that are killed at once ----

run(killed) ->
    N = 1000,
    Ps = [open_port({spawn_executable, "/bin/sleep"}, [{args, ["600"]}, exit_status]) || _ <- lists:seq(1, N)],
    Pids = [begin {os_pid, Pid} = erlang:port_info(P, os_pid), Pid end || P <- Ps],
    os:cmd(["kill -9" | [[" ", integer_to_list(Pid)] || Pid <- Pids]]),
    [receive {P, {exit_status, 137}} -> ok after 20000 -> error({no_status, P}) end || P <- Ps],
    [receive {'EXIT', P, normal} -> ok after 20000 -> error({no_end, P}) end || P <- Ps],
    %% They have been waited for: none is a zombie.
    [] = [Pid || Pid <- Pids, filelib:is_dir("/proc/" ++ integer_to_list(Pid))],
    io_lib:format("~b exit statuses, ", [N]);

%% ---- more descriptors than there may be (ulimit -n 200) ----

run(descriptors) ->
    %% Programs that have not begun yet leave others some.
    Closed = [P || _ <- lists:seq(1, 300), P <- [opened()], port_close(P)],
    Some = [begin {ok, F} = file:open("/dev/null", [read, raw]), F end || _ <- lists:seq(1, 10)],
    [ok = file:close(F) || F <- Some],
    [receive {'EXIT', P, normal} -> ok end || P <- Closed],
    Counts = [begin
                  {Ps, emfile} = open_all([]),
                  emfile = opened(),
                  {Fs, emfile} = files([]),
                  emfile = opened(),
                  [ok = file:close(F) || F <- Fs],
                  [closed(P, kill) || P <- Ps],
                  settled(fun () -> is_port(Q = opened()) andalso closed(Q, kill) end),
                  "fine\n" = os:cmd("echo fine"),
                  length(Ps)
              end || _ <- [1, 2, 3]],
    [N] = lists:usort(Counts),
    true = N > 20,
    io_lib:format("~b programs three times, ", [N]);

%% ---- programs that are left when the machine is killed: tests/stress/run looks for them ----

run(orphans) ->
    Ps = [open_port(What, [exit_status])
          || What <- [{spawn, "cat"}, {spawn, "cat >/dev/null; exit 0"}, {spawn_executable, "/bin/cat"}],
             _ <- lists:seq(1, 20)],
    Busy = cat(),
    port_command(Busy, binary:copy(<<"x">>, 1000000)),
    Pids = [begin {os_pid, Pid} = erlang:port_info(P, os_pid), Pid end || P <- [Busy | Ps]],
    io:format("~w~n", [[list_to_integer(os:getpid()) | Pids]]),
    receive never -> ok end.

%% A program, three who write to it, and then all that each has sent, in its order.
lines_of(I) ->
    P = cat(),
    rand:seed(exsss, I),
    Plans = [[rand:uniform(60) || _ <- lists:seq(1, 50)] || _ <- "abc"],
    Sizes = lists:zip("abc", [lists:sum(Plan) || Plan <- Plans]),
    [spawn_link(fun() -> bursts(P, Who, 1, Plan) end) || {Who, Plan} <- lists:zip("abc", Plans)],
    all_of(P, maps:from_list([{Who, 1} || Who <- "abc"]), maps:from_list(Sizes)),
    exit({lines, lists:sum([Size || {_, Size} <- Sizes])}).

bursts(_, _, _, []) -> ok;
bursts(P, Who, N, [Burst | Plan]) ->
    [true = port_command(P, [Who, integer_to_list(I), $\n]) || I <- lists:seq(N, N + Burst - 1)],
    erlang:yield(),
    bursts(P, Who, N + Burst, Plan).

all_of(_, _, Left) when map_size(Left) =:= 0 -> ok;
all_of(P, Next, Left) ->
    receive
        {P, {data, {eol, [Who | Line]}}} ->
            #{Who := N} = Next,
            N = list_to_integer(Line),
            More = case Left of #{Who := N} -> maps:remove(Who, Left); _ -> Left end,
            all_of(P, Next#{Who := N + 1}, More)
    after 30000 -> error({missing, Next})
    end.

cat() -> open_port({spawn_executable, "/bin/cat"}, [{line, 80}]).

forever(F) -> F(), forever(F).

suspended(W) ->
    settled(fun () -> process_info(W, status) =:= {status, suspended} end).

settled(F) -> settled(F, 500).
settled(_, 0) -> error(timeout);
settled(F, N) ->
    case F() of
        true -> true;
        _ -> timer:sleep(10), settled(F, N - 1)
    end.

closed(P, Why) ->
    exit(P, Why),
    receive {'EXIT', P, _} -> true after 5000 -> error({not_closed, P}) end.

%% Every hundredth message, what the machine takes.
count(P, N, Most) ->
    receive
        {P, {data, B}} when N band 16#3ffff =:= 0 -> count(P, N + byte_size(B), max(Most, stress:rss()));
        {P, {data, B}} -> count(P, N + byte_size(B), Most);
        {P, {exit_status, 0}} -> {N, Most}
    after 20000 -> error({only, N})
    end.

opened() ->
    try open_port({spawn_executable, "/bin/cat"}, []) catch error:Why -> Why end.

files(Fs) ->
    case file:open("/dev/null", [read, raw]) of
        {ok, F} -> files([F | Fs]);
        {error, Why} -> {Fs, Why}
    end.

open_all(Ps) ->
    case opened() of
        P when is_port(P) -> open_all([P | Ps]);
        Why -> {Ps, Why}
    end.
