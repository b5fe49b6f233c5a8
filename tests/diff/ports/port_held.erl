%% Many small lines to a program in one turn: whatever comes next, they are in its pipe
%% (port_held_end: the machine ends).
-module(port_held).
-export([main/0]).

-define(LINES, 100).

main() ->
    process_flag(trap_exit, true),
    [t:p({ended, How, ended(How)}) || How <- [close, message, exit, kill, normal, killed, error]],
    [t:p({by_another, How, by_another(How)}) || How <- [close, exit, kill]],
    [t:p({computing, How, computing(How)}) || How <- [command, message]],
    t:p({packets, packets()}),
    t:p({told, told()}),
    [t:p({looked_at, How, looked_at(How)}) || How <- [port, program]],
    t:p({two_senders, two_senders()}),
    t:p({much, much()}),
    [t:p({busy, Limits, busy(Limits)}) || Limits <- [[], [{busy_limits_port, {1, 1}}], [{busy_limits_port, disabled}]]],
    t:p({suspended, suspended()}),
    t:p({closed_input, closed_input()}),
    ok.

lines() -> lines(1, ?LINES).
lines(From, To) -> [["line ", integer_to_list(I), "\n"] || I <- lists:seq(From, To)].
all_lines() -> iolist_to_binary(lines()).

%% All in one turn, where nobody is in between.
write(P, Lines) -> erlang:yield(), [true = port_command(P, L) || L <- Lines], ok.
send(P, Owner, Lines) -> erlang:yield(), [P ! {Owner, {command, L}} || L <- Lines], ok.

sh(Script, Options) ->
    P = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", "echo up; " ++ Script]}, {line, 80} | Options]),
    receive {P, {data, {eol, "up"}}} -> P end.

%% A program whose input is a file when it has come to its end.
to_file() -> to_file([]).
to_file(Options) ->
    F = filename:join(os:getenv("DIFF_TMP", "/tmp"), "all"),
    file:delete(F),
    {F, sh("cat >" ++ F ++ ".part; mv " ++ F ++ ".part " ++ F, Options)}.
content(F) ->
    wait_for(fun() -> filelib:is_regular(F) end),
    {ok, B} = file:read_file(F),
    B.
is_all(F) ->
    case content(F) =:= all_lines() of
        true -> all;
        false -> byte_size(content(F))
    end.

%% ---- the port ends in the turn in which they were sent ----

ended(How) ->
    S = self(),
    spawn(fun() -> {F, P} = to_file(), S ! {file, F}, write(P, lines()), finish(How, P) end),
    receive {file, F} -> is_all(F) end.

finish(close, P) -> port_close(P), stay();
finish(message, P) -> P ! {self(), close}, stay();
finish(exit, P) -> process_flag(trap_exit, true), exit(P, why), stay();
finish(kill, P) -> process_flag(trap_exit, true), exit(P, kill), stay();
finish(normal, _) -> ok;
finish(killed, _) -> exit(self(), kill);
finish(error, _) -> exit(why).

stay() -> receive after 20000 -> ok end.

%% ---- while the sender goes on without a wait ----

by_another(How) ->
    {F, P} = to_file(),
    S = self(),
    W = spawn(fun() -> write(P, lines()), S ! sent, compute() end),
    receive sent -> ok end,
    case How of close -> port_close(P); _ -> exit(P, How) end,
    R = is_all(F),
    exit(W, kill),
    flush(),
    R.

%% Others compute as well. It hears of each line.
computing(How) ->
    P = sh("exec cat", []),
    S = self(),
    Others = [spawn(fun compute/0) || _ <- [1, 2, 3]],
    W = spawn(fun() -> case How of command -> write(P, lines()); message -> send(P, S, lines()) end, compute() end),
    R = echoes(P, ?LINES) =:= all_lines(),
    [exit(Pid, kill) || Pid <- [W | Others]],
    port_close(P),
    R.

compute() -> compute().

echoes(_, 0) -> <<>>;
echoes(P, N) ->
    receive {P, {data, {eol, L}}} -> iolist_to_binary([L, $\n, echoes(P, N - 1)]) after 20000 -> {missing, N} end.

packets() ->
    P = open_port({spawn_executable, "/bin/cat"}, [{packet, 2}, binary]),
    true = port_command(P, "up"),
    receive {P, {data, <<"up">>}} -> ok end,
    write(P, lines()),
    R = [receive {P, {data, D}} -> D after 20000 -> none end || _ <- lines()],
    port_close(P),
    iolist_to_binary(R) =:= all_lines().

%% ---- what is told of it, in the same turn ----

told() ->
    {F, P} = to_file(),
    Size = byte_size(all_lines()),
    erlang:yield(),
    {_, {output, Before}} = erlang:statistics(io),
    write(P, lines()),
    {_, {output, After}} = erlang:statistics(io),
    R = {After - Before =:= Size, erlang:port_info(P, output) =:= {output, Size}, erlang:port_info(P, queue_size),
         port_connect(P, self()), element(1, catch port_control(P, 1, "x"))},
    port_close(P),
    {R, is_all(F)}.

%% Another program looks into the pipe when it is told to, or as soon as it is there.
looked_at(How) ->
    P = sh("exec sleep 60", []),
    {os_pid, Pid} = erlang:port_info(P, os_pid),
    flush(),
    Look = "dd if=/proc/" ++ integer_to_list(Pid) ++ "/fd/0 iflag=nonblock bs=65536 count=1 2>/dev/null",
    Q = case How of
        port ->
            Q0 = sh("read x; " ++ Look, [exit_status]),
            write(P, lines()),
            port_command(Q0, "look\n"),
            Q0;
        program ->
            write(P, lines()),
            sh(Look, [exit_status])
    end,
    %% Without a wait.
    R = spun(fun() -> process_info(self(), message_queue_len) >= {message_queue_len, ?LINES} end)
        andalso echoes(Q, ?LINES) =:= all_lines(),
    exit(P, kill),
    flush(),
    os:cmd("kill " ++ integer_to_list(Pid)),
    R.

spun(F) -> F() orelse spun(F).

%% ---- order ----

%% The first goes on when the second has sent, and has not waited in between.
two_senders() ->
    {F, P} = to_file(),
    A = atomics:new(1, []),
    S = self(),
    B = spawn(fun() -> receive go -> write(P, lines(21, 40)), atomics:put(A, 1, 1), compute() end end),
    spawn(fun() ->
        write(P, lines(1, 20)),
        B ! go,
        spun(fun() -> atomics:get(A, 1) =:= 1 end),
        write(P, lines(41, ?LINES)),
        S ! sent
    end),
    receive sent -> ok end,
    exit(B, kill),
    port_close(P),
    is_all(F).

%% Lines of any length, more than a pipe takes at once.
much() ->
    {F, P} = to_file(),
    Lines = [binary:copy(<<(I rem 251)>>, I * I rem 997 + I div 400 * 3000) || I <- lists:seq(1, 2000)],
    write(P, Lines),
    port_close(P),
    content(F) =:= iolist_to_binary(Lines).

%% ---- a program that does not read ----

busy(Limits) ->
    Go = filename:join(os:getenv("DIFF_TMP", "/tmp"), "go"),
    F = filename:join(os:getenv("DIFF_TMP", "/tmp"), "read"),
    [file:delete(X) || X <- [Go, F]],
    P = sh("while [ ! -e " ++ Go ++ " ]; do sleep 0.05; done; wc -c >" ++ F ++ ".part; mv " ++ F ++ ".part " ++ F, Limits),
    Line = binary:copy(<<"x">>, 100),
    erlang:yield(),
    Taken = taken(P, Line, 0),
    High = case Limits of [] -> 8192; [{_, {_, N}}] -> N; _ -> 0 end,
    {queue_size, Queue} = erlang:port_info(P, queue_size),
    R = {Taken < 5000, Queue >= High, erlang:port_info(P, output) =:= {output, 100 * Taken}},
    ok = file:write_file(Go, ""),
    port_close(P),
    wait_for(fun() -> filelib:is_regular(F) end),
    {ok, B} = file:read_file(F),
    {R, binary_to_integer(string:trim(B)) =:= 100 * Taken}.

taken(_, _, 5000) -> 5000;
taken(P, Line, N) ->
    case port_command(P, Line, [nosuspend]) of
        true -> taken(P, Line, N + 1);
        false -> N
    end.

suspended() ->
    P = sh("exec sleep 60", []),
    {os_pid, Pid} = erlang:port_info(P, os_pid),
    W = spawn(fun() -> forever(P) end),
    R = {wait_for(fun() -> process_info(W, status) =:= {status, suspended} end),
         element(2, erlang:port_info(P, queue_size)) < 65536},
    exit(P, kill),
    flush(),
    os:cmd("kill " ++ integer_to_list(Pid)),
    {R, wait_for(fun() -> not is_process_alive(W) end)}.

forever(P) -> port_command(P, "a line\n"), forever(P).

%% It has something to do, and its input is closed: the first output ends the port.
closed_input() ->
    F = filename:join(os:getenv("DIFF_TMP", "/tmp"), "closed"),
    P = sh("read x; exec 0<&-; >" ++ F ++ "; exec sleep 60", []),
    {os_pid, Pid} = erlang:port_info(P, os_pid),
    true = port_command(P, "x\n"),
    wait_for(fun() -> filelib:is_regular(F) end),
    erlang:yield(),
    R = [catch port_command(P, "a line\n"), element(1, catch port_command(P, "a line\n"))],
    E = receive {'EXIT', P, Why} -> Why after 20000 -> none end,
    os:cmd("kill " ++ integer_to_list(Pid)),
    {R, E}.

flush() -> receive _ -> flush() after 0 -> ok end.

wait_for(F) -> wait_for(F, 1000).
wait_for(_, 0) -> timeout;
wait_for(F, N) -> case F() of true -> true; _ -> timer:sleep(20), wait_for(F, N - 1) end.
