%% Busy ports: who writes to one is suspended until it takes more, whichever way he writes; others
%% are not; nothing more is queued meanwhile.
-module(port_busy).
-export([main/0]).

-define(FULL, 200000).

main() ->
    process_flag(trap_exit, true),
    [suspended(How) || How <- [command, message, named]],
    many(),
    nosuspend(),
    killed_waiting(),
    closed_under(),
    limits(),
    exits(),
    monitored(),
    ok.

sleeper() -> open_port({spawn_executable, "/bin/sleep"}, [{args, ["60"]}]).
big() -> binary:copy(<<"x">>, ?FULL).
queue(P) -> case erlang:port_info(P, queue_size) of {queue_size, N} -> N; O -> O end.

write(command, P, D) -> port_command(P, D);
write(message, P, D) -> P ! {element(2, erlang:port_info(P, connected)), {command, D}}, true;
write(named, _, D) -> the_port ! {whereis(owner), {command, D}}, true.

wait_status(W, S) -> wait_for(fun() -> process_info(W, status) =:= {status, S} end).
wait_for(F) -> wait_for(F, 150).
wait_for(_, 0) -> timeout;
wait_for(F, N) -> case F() of true -> true; _ -> timer:sleep(10), wait_for(F, N - 1) end.

suspended(How) ->
    P = sleeper(),
    register(the_port, P),
    register(owner, self()),
    S = self(),
    W = spawn(fun() -> [begin write(How, P, big()), S ! {self(), I} end || I <- lists:seq(1, 1000)] end),
    t:p({How, wait_status(W, suspended)}),
    %% Others go on meanwhile, and send the one that waits what they like.
    W ! hello,
    t:p({How, others, process_info(W, message_queue_len), (fun F(0) -> ok; F(N) -> F(N - 1) end)(100000)}),
    timer:sleep(100),
    Q = queue(P),
    timer:sleep(100),
    t:p({How, bounded, Q =< 3 * ?FULL, queue(P) =:= Q, process_info(W, status)}),
    t:p({How, passed, length([I || {W1, I} <- t:flush(), W1 =:= W]) =< 3}),
    unregister(owner),
    exit(P, kill),
    t:p({How, gone, receive {'EXIT', P, R} -> R after 3000 -> none end}),
    t:p({How, left, wait_for(fun() -> not is_process_alive(W) end)}),
    t:flush().

%% Many writers: the queue does not grow with them.
many() ->
    P = sleeper(),
    port_command(P, big()),
    S = self(),
    Ws = [spawn(fun() -> R = t:c(fun() -> port_command(P, big()) end), S ! {self(), R} end) || _ <- lists:seq(1, 100)],
    t:p({many, lists:usort([wait_status(W, suspended) || W <- Ws])}),
    t:p({many, queue(P) =< ?FULL}),
    timer:sleep(50),
    t:p({still, lists:usort([process_info(W, status) || W <- Ws])}),
    exit(P, kill),
    t:p({ended, lists:usort([receive {W, R} -> R after 3000 -> none end || W <- Ws])}),
    t:flush(),
    P2 = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", "sleep 0.2; cat | wc -c"]}, {line, 80}, exit_status]),
    Vs = [spawn(fun() -> R = t:c(fun() -> port_command(P2, big()) end), S ! {self(), R} end) || _ <- lists:seq(1, 50)],
    t:p({all_written, lists:usort([receive {V, R} -> R after 5000 -> none end || V <- Vs])}),
    t:p({output, erlang:port_info(P2, output)}),
    port_close(P2),
    t:flush().

nosuspend() ->
    P = sleeper(),
    S = self(),
    t:p(port_command(P, big(), [nosuspend])),
    t:p([port_command(P, "x", [nosuspend]), erlang:send(P, {S, {command, "x"}}, [nosuspend]), erlang:send_nosuspend(P, {S, {command, "x"}}), erlang:send_nosuspend(P, {S, {command, "x"}}, [noconnect])]),
    t:p({output, erlang:port_info(P, output)}),
    exit(P, kill),
    t:p(t:c(fun() -> port_command(P, "x", [nosuspend]) end)),
    t:flush().

killed_waiting() ->
    P = sleeper(),
    port_command(P, big()),
    W = spawn(fun() -> port_command(P, big()) end),
    t:p(wait_status(W, suspended)),
    t:p({by_other, erlang:suspend_process(W), process_info(W, status), erlang:resume_process(W), process_info(W, status)}),
    exit(W, kill),
    t:p({killed, wait_for(fun() -> not is_process_alive(W) end), erlang:port_info(P, connected) =:= {connected, self()}}),
    W2 = spawn(fun() -> port_command(P, big()) end),
    t:p(wait_status(W2, suspended)),
    exit(W2, stop),
    t:p({stopped, wait_for(fun() -> not is_process_alive(W2) end)}),
    exit(P, kill),
    t:flush().

closed_under() ->
    S = self(),
    [begin
         P = sleeper(),
         port_command(P, big()),
         W = spawn(fun() -> R = t:c(fun() -> port_command(P, "x") end), S ! {self(), R} end),
         V = spawn(fun() -> R = t:c(fun() -> P ! {S, {command, "x"}}, sent end), S ! {self(), R} end),
         wait_status(W, suspended), wait_status(V, suspended),
         {os_pid, Pid} = erlang:port_info(P, os_pid),
         How(P),
         t:p({closed, receive {W, R} -> R after 3000 -> none end, receive {V, R} -> R after 3000 -> none end}),
         os:cmd("kill -9 " ++ integer_to_list(Pid)),
         t:flush()
     end || How <- [fun port_close/1, fun(P) -> P ! {S, close} end, fun(P) -> exit(P, kill) end, fun(P) -> exit(P, why) end]].

limits() ->
    [begin
         P = open_port({spawn_executable, "/bin/sleep"}, [{args, ["60"]}, {busy_limits_port, L}]),
         t:p({limits, L, port_command(P, big(), [nosuspend]), [port_command(P, binary:copy(<<"x">>, 1000), [nosuspend]) || _ <- lists:seq(1, 6)]}),
         exit(P, kill)
     end || L <- [disabled, {1, 1}, {100, 1000}, {3000, 2000}, {4096, 8192}, {1000000, 2000000}, {2000000, 1000000}]],
    t:flush().

%% A port that is killed drops what it has not written; one that is closed does not.
exits() ->
    File = filename:join(os:getenv("DIFF_TMP", "/tmp"), "count"),
    [begin
         file:delete(File),
         P = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", "sleep 0.3; wc -c >" ++ File]}]),
         port_command(P, big()),
         timer:sleep(50),
         How(P),
         t:p({written, wait_for(fun() -> filelib:file_size(File) > 0 end), case file:read_file(File) of {ok, B} -> binary_to_integer(string:trim(B)) =:= ?FULL; E -> E end}),
         t:flush()
     end || How <- [fun port_close/1, fun(P) -> exit(P, why) end, fun(P) -> exit(P, kill) end]].

monitored() ->
    P = sleeper(),
    erlang:system_monitor(self(), [busy_port]),
    port_command(P, big()),
    W = spawn(fun() -> port_command(P, "x") end),
    t:p({told, receive {monitor, W, busy_port, P} -> yes after 1000 -> no end}),
    V = spawn(fun() -> P ! {element(2, erlang:port_info(P, connected)), {command, "x"}} end),
    t:p({told, receive {monitor, V, busy_port, P} -> yes after 1000 -> no end}),
    erlang:system_monitor(undefined),
    exit(P, kill),
    t:flush().
