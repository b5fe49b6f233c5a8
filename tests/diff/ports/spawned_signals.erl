%% What a started program finds ignored, and the name of the shell that starts it.
-module(spawned_signals).
-export([main/0]).
main() ->
    t:p(string:trim(os:cmd("grep SigIgn /proc/self/status"))),
    P = open_port({spawn, "nosuch2"}, [stderr_to_stdout, exit_status]), t:p(told(P, [])),
    Q = open_port({spawn, "grep SigIgn /proc/self/status"}, [exit_status]), t:p(told(Q, [])),
    S = open_port({spawn_executable, "/bin/grep"}, [{args, ["SigBlk", "/proc/self/status"]}, exit_status]), t:p(told(S, [])).
told(P, Data) -> receive {P, {data, D}} -> told(P, [Data | D]); {P, {exit_status, N}} -> {lists:flatten(Data), N} end.
