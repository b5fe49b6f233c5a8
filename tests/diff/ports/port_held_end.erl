%% Many small lines to a program, and in the same turn the machine ends: they are in the program's pipe.
%% Another machine like this one (VM, as the runner has it) is what ends.
-module(port_held_end).
-export([main/0, child/1]).

main() ->
    [t:p({machine, How, machine(How)}) || How <- ["no_flush", "flush", "term", "killed"]].

machine(How) ->
    file:delete(to()),
    Beams = filename:dirname(code:which(?MODULE)),
    Script = "exec $VM $VM_FLAGS -noshell -noinput -kernel logger_level none -pa " ++ Beams ++ " -run port_held_end child " ++ How,
    P = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Script]}, exit_status, stderr_to_stdout]),
    Status = receive {P, {exit_status, N}} -> N after 20000 -> none end,
    flush(),
    {Status, wait_for(fun() -> file:read_file(to()) =:= {ok, iolist_to_binary(lines())} end)}.

%% The program's input is a file there when it has come to its end.
to() -> filename:join(os:getenv("DIFF_TMP", "/tmp"), "all").
lines() -> [["line ", integer_to_list(I), "\n"] || I <- lists:seq(1, 100)].

child([How]) ->
    Script = "echo up; cat >" ++ to() ++ ".part; mv " ++ to() ++ ".part " ++ to(),
    P = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Script]}]),
    receive {P, {data, _}} -> ok end,
    erlang:yield(),
    [true = port_command(P, L) || L <- lines()],
    leave(How).

leave("no_flush") -> halt(3, [{flush, false}]);
leave("flush") -> halt(4);
leave("term") -> os:cmd("kill " ++ os:getpid()), stay();
leave("killed") -> os:cmd("kill -9 " ++ os:getpid()), stay().

stay() -> receive after 20000 -> ok end.

flush() -> receive _ -> flush() after 0 -> ok end.

wait_for(F) -> wait_for(F, 1000).
wait_for(_, 0) -> timeout;
wait_for(F, N) -> case F() of true -> true; _ -> timer:sleep(20), wait_for(F, N - 1) end.
