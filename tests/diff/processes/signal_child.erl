%% os:set_signal/2 of sigchld: how programs end is told all the same, and their ends are no signals to the program.
-module(signal_child).
-export([main/0]).
main() ->
    t:p(run()),
    Server = whereis(erl_signal_server), unregister(erl_signal_server), register(erl_signal_server, self()),
    [begin
        t:p(Action, os:set_signal(sigchld, Action)),
        t:p([run() || _ <- lists:seq(1, 5)]), t:p(os:cmd("echo said; exit 4")), t:p(signals()),
        _ = [os:cmd("kill -s CHLD " ++ os:getpid()) || Action =/= default], t:p(signals())
    end || Action <- [ignore, handle, default, ignore]],
    unregister(erl_signal_server), register(erl_signal_server, Server).
run() ->
    P = open_port({spawn, "sh -c 'exit 7'"}, [exit_status]),
    receive {P, {exit_status, N}} -> N after 5000 -> none end.
signals() -> timer:sleep(200), seen().
seen() -> receive {notify, S} -> [S | seen()] after 0 -> [] end.
