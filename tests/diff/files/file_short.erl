%% Calls that bring or take less than was asked for, and calls that signals interrupt: pipes with a
%% slow program at their other end, or none.
-module(file_short).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    D = t:tmp("short"),
    persistent_term:put(data, << <<I:32>> || I <- lists:seq(1, 60000) >>),
    F = filename:join(D, "fifo"),
    os:cmd("mkfifo " ++ F),
    ok = os:set_signal(sigusr2, handle),
    Stop = interrupt(),
    [t:p({read, Modes}, slow_writer(F, Modes)) || Modes <- [[raw], [], [raw, read_ahead], [read_ahead]]],
    [t:p({write, Modes}, slow_reader(F, D, Modes)) || Modes <- [[raw], [], [raw, delayed_write]]],
    t:p(whole, whole(F)),
    t:p(gone, [gone(F, Modes) || Modes <- [[raw], [], [raw, delayed_write]]]),
    t:p(pieces, pieces(F)),
    Stop ! stop,
    t:p(zero, zero()),
    t:p(proc, proc()),
    file:del_dir_r(D).

%% Signals all the time, at all threads of ours.
interrupt() ->
    Line = "pid=" ++ os:getpid() ++ "; while kill -0 $pid 2>/dev/null; do kill -USR2 $(ls /proc/$pid/task 2>/dev/null) 2>/dev/null; sleep 0.005; done",
    Self = self(),
    spawn(fun() ->
        Port = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Line]}]),
        Info = erlang:port_info(Port, os_pid),
        link(Self),
        receive stop -> ok; {'EXIT', _, _} -> ok end,
        os:cmd("kill " ++ integer_to_list(element(2, Info)))
    end).

data() -> persistent_term:get(data).

%% Another program writes in small pieces, with pauses.
slow_writer(F, Modes) ->
    Self = self(),
    spawn_link(fun() ->
        {ok, W} = file:open(F, [write, raw]),
        dribble(W, data()),
        file:close(W),
        Self ! wrote
    end),
    {ok, H} = file:open(F, [read, binary | Modes]),
    Read = all(H, []),
    file:close(H),
    receive wrote -> ok end,
    {Read =:= data(), byte_size(Read)}.

dribble(_, <<>>) -> ok;
dribble(W, B) ->
    N = min(byte_size(B), 4001),
    <<P:N/binary, R/binary>> = B,
    ok = file:write(W, P),
    timer:sleep(1),
    dribble(W, R).

all(H, Parts) ->
    case file:read(H, 10000) of
        {ok, B} -> all(H, [Parts, B]);
        eof -> iolist_to_binary(Parts)
    end.

%% Another program reads in small pieces, with pauses: writes wait, and are taken in part.
slow_reader(F, D, Modes) ->
    Out = filename:join(D, "out"),
    Line = "sleep 0.1; (dd bs=7777 count=10; sleep 0.05; cat) < " ++ F ++ " > " ++ Out ++ " 2>/dev/null",
    Port = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Line]}, exit_status]),
    {ok, H} = file:open(F, [write | Modes]),
    R = [file:write(H, data()), file:write(H, [binary:part(data(), I, 100) || I <- lists:seq(0, 239900, 100)]),
         file:write(H, data()), file:close(H)],
    receive {Port, {exit_status, _}} -> ok end,
    {ok, Got} = file:read_file(Out),
    D3 = data(),
    {R, Got =:= <<D3/binary, D3/binary, D3/binary>>}.

whole(F) ->
    Self = self(),
    spawn_link(fun() ->
        {ok, W} = file:open(F, [write, raw]),
        dribble(W, binary:part(data(), 0, 20000)),
        file:close(W),
        Self ! wrote
    end),
    {ok, B} = file:read_file(F),
    receive wrote -> ok end,
    B =:= binary:part(data(), 0, 20000).

%% Whoever read is gone.
gone(F, Modes) ->
    Self = self(),
    P = spawn_link(fun() -> {ok, H} = file:open(F, [read, raw]), Self ! opened, receive close -> file:close(H) end, Self ! closed end),
    {ok, W} = file:open(F, [write | Modes]),
    receive opened -> ok end,
    A = file:write(W, "read by nobody"),
    P ! close,
    receive closed -> ok end,
    B = [file:write(W, "x"), file:close(W)],
    {A, B}.

%% Many writers, one reader: what is at most a page long arrives in one piece.
pieces(F) ->
    Ws = [spawn_link(fun() -> {ok, W} = file:open(F, [write, raw]), [ok = file:write(W, piece(N)) || _ <- lists:seq(1, 100)], file:close(W) end)
          || N <- lists:seq($a, $h)],
    {ok, H} = file:open(F, [read, write, raw, binary]),
    Got = [begin {ok, B} = file:read(H, 1001), B end || _ <- lists:seq(1, 800)],
    file:close(H),
    [receive {'EXIT', P, Why} -> normal = Why end || P <- Ws],
    lists:usort([same(B) || B <- Got]).

piece(N) -> binary:copy(<<N>>, 1001).
same(<<N, _/binary>> = B) -> B =:= piece(N).

zero() ->
    {ok, H} = file:open("/dev/zero", [read, raw, binary]),
    {ok, G} = file:open("/dev/zero", [read, binary]),
    {ok, N} = file:open("/dev/null", [read, write, raw, binary]),
    R = [file:read(H, 100000) =:= {ok, <<0:800000>>}, file:read(G, 100000) =:= {ok, <<0:800000>>},
         file:read(N, 10), file:write(N, data()), file:read_file("/dev/null")],
    [file:close(X) || X <- [H, G, N]],
    R.

%% Files that say they are empty and aren't.
proc() ->
    {ok, A} = file:read_file("/proc/cpuinfo"),
    {ok, H} = file:open("/proc/cpuinfo", [read, raw, binary]),
    B = all(H, []),
    file:close(H),
    {byte_size(A) > 100, byte_size(B) > 100}.
