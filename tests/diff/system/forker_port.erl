%% The port that is always there, and that nobody can close.
-module(forker_port).
-export([main/0]).

main() ->
    [F] = [P || P <- erlang:ports(), erlang:port_info(P, name) =:= {name, "forker"}],
    t:pc(text, fun() -> port_to_list(F) end),
    t:pc(info, fun() -> erlang:port_info(F) end),
    [t:pc(I, fun() -> erlang:port_info(F, I) end) ||
        I <- [name, id, connected, links, input, output, os_pid, monitors, monitored_by, queue_size,
              parallelism, registered_name]],
    t:pc(data, fun() -> erlang:port_get_data(F) end),
    t:pc(control, fun() -> erlang:port_control(F, 1, "") end),
    t:pc(call, fun() -> erlang:port_call(F, 1, a) end),
    t:pc(command, fun() -> erlang:port_command(F, "x") end),
    t:pc(close, fun() -> port_close(F) end),
    t:pc(exit, fun() -> exit(F, foo) end),
    t:pc(kill, fun() -> exit(F, kill) end),
    t:pc(connect, fun() -> erlang:port_connect(F, self()) end),
    F ! {self(), close},
    t:pc(closed, fun() -> receive M -> M after 100 -> nothing end end),
    t:pc(linked, fun() ->
        {Pid, R} = spawn_monitor(fun() -> link(F), exit(reason) end),
        receive {'DOWN', R, process, Pid, Why} -> Why end
    end),
    t:pc(register, fun() -> register(a_name, F), whereis(a_name) =:= F end),
    t:pc(still_there, fun() -> lists:member(F, erlang:ports()) end),
    unlink(F).
