%% Programs find two signals ignored: one that writes to a closed pipe gets an error.
-module(program_signals).
-export([main/0]).

main() ->
    [t:p({Signal, os:cmd("sh -c 'kill -" ++ Signal ++ " $$; echo goes on'")}) || Signal <- ["PIPE", "FPE"]],
    t:p({usr2, status("kill -USR2 $$")}),
    t:p({closed_pipe, os:cmd("(sleep 0.1; echo lost 2>/dev/null || echo failed >&2) | true")}).

status(Command) ->
    Port = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Command]}, exit_status]),
    receive {Port, {exit_status, N}} -> N end.
