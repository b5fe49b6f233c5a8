%% Linked-in drivers: which functions of a driver are called, and when. It writes them into a log. The driver
%% is compiled here, several times with other flags.
%% From 29 on an error number that the system does not have is `errno_N`.
%% until 29
-module(linked_life).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    [driver(Name, Flags) || {Name, Flags} <- [{"linked_life", "0"}, {"linked_life_p", "PORT_LOCKING"},
                                              {"linked_life_s", "'PORT_LOCKING|SOFT_BUSY|NO_BUSY_MSGQ'"}]],
    acknowledged("linked_life_a", "'PORT_LOCKING|USE_INIT_ACK'").

load(Name, Flags) ->
    Here = os:getenv("here"),
    "" = os:cmd(lists:flatten(["cc -w -D_GNU_SOURCE -shared -fPIC -I", Here, " -DNAME='\"", Name, "\"' -DFLAGS=",
                               Flags, " -o ", Name, ".so ", filename:join(Here, "linked_life.c")])),
    ok = erl_ddll:load_driver(".", Name).

driver(Name, Flags) ->
    load(Name, Flags),
    put(log, open_port({spawn_driver, Name}, [])),
    io:format("~s~n", [Name]),
    log(loaded),
    [ends(Name, Commands, How) || {Commands, How} <-
        [{["q12"], close}, {["Q1"], none}, {["E1"], none}, {["X1"], none}, {["x"], none}, {["0"], none},
         {["-"], none}, {["P"], none}, {["f"], wait}, {["q1", "f"], close}, {["a"], wait}, {["A"], none},
         {["o"], os_pid}, {["q"], control}, {[], control}]],
    eof(Name),
    selects(Name),
    monitors(Name),
    force(Name),
    calls(Name),
    t:p(unload, erl_ddll:unload_driver(Name)).

ends(Name, Commands, How) ->
    P = open_port({spawn_driver, Name}, []),
    M = erlang:monitor(port, P),
    [port_command(P, C) || C <- Commands],
    t:p(Commands),
    case How of
        close -> t:p(close, {t:c(fun() -> port_close(P) end), t:c(fun() -> port_close(P) end)});
        os_pid -> t:p(os_pid, erlang:port_info(P, os_pid)), port_close(P);
        control -> t:pc(control, fun() -> port_control(P, 1, "") end);
        _ -> ok
    end,
    [t:p(closed, {erlang:port_info(P), t:c(fun() -> port_command(P, "n") end)}) || How =:= none orelse How =:= control],
    timer:sleep(case Commands of ["q" ++ _ | _] -> 400; _ -> 80 end),
    told(P),
    receive {'DOWN', M, port, P, Why} -> t:p(down, Why) after 0 -> t:p(not_down) end,
    log(ended),
    catch port_close(P).

eof(Name) ->
    P = open_port({spawn_driver, Name ++ " timer out"}, [eof]),
    timer:sleep(50),
    port_command(P, "0"),
    port_command(P, "t"),
    timer:sleep(50),
    told(P),
    log(eof),
    close(P).

selects(Name) ->
    P = open_port({spawn_driver, Name}, []),
    [begin port_command(P, C), timer:sleep(50), told(P), log(C) end || C <- ["s", "w", "u", "U"]],
    close(P),
    %% An ordinary file is always ready.
    F = open_port({spawn_driver, Name}, []),
    port_command(F, "F"),
    timer:sleep(50),
    port_command(F, "u"),
    receive {F, First} -> t:p(file, First) after 1000 -> t:p(nothing) end,
    drop(F),
    port_close(F),
    timer:sleep(50),
    t:p(file, lists:usort(string:split(port_control(get(log), 0, ""), "; ", all))).

monitors(Name) ->
    P = open_port({spawn_driver, Name}, []),
    spawn(fun() -> port_command(P, "m") end),
    timer:sleep(50),
    told(P),
    log(monitor),
    {_, M} = spawn_monitor(fun() -> port_command(P, "m"), port_command(P, "d") end),
    receive {'DOWN', M, _, _, _} -> ok end,
    timer:sleep(50),
    told(P),
    log(demonitor),
    Q = spawn(fun() -> port_command(P, "m"), receive never -> ok end end),
    timer:sleep(50),
    t:p(info, {erlang:port_info(P, monitors) =:= {monitors, [Q]}, process_info(Q, monitored_by) =:= {monitored_by, [P]}}),
    close(P),
    t:p(info, process_info(Q, monitored_by)),
    exit(Q, kill).

%% To a busy port some drivers can be made to take output.
force(Name) ->
    P = open_port({spawn_driver, Name}, []),
    port_command(P, "b"),
    t:pc(nosuspend, fun() -> port_command(P, "n", [nosuspend]) end),
    t:pc(force, fun() -> port_command(P, "n", [force]) end),
    t:pc(force, fun() -> port_command(P, "n", [force, nosuspend]) end),
    timer:sleep(80),
    close(P),
    Q = open_port({spawn_driver, Name}, []),
    port_command(Q, "b"),
    Me = self(),
    spawn(fun() -> Me ! {command, t:c(fun() -> port_command(Q, "later") end)} end),
    timer:sleep(10),
    port_close(Q),
    receive {command, What} -> t:p(closed, What) after 1000 -> t:p(never) end,
    timer:sleep(50),
    port_control(get(log), 0, "").

calls(Name) ->
    P = open_port({spawn_driver, Name}, []),
    [t:pc(call, fun() -> erlang:port_call(P, Op, {a, 1}) end) || Op <- [0, 1, 2, 3, 4, 5, -1, 1 bsl 32]],
    [t:pc(control, fun() -> port_control(P, Op, Data) end)
     || {Op, Data} <- [{-1, ""}, {1 bsl 32, ""}, {a, ""}, {0, [300]}, {0, a}]],
    log(call),
    close(P).

%% `open_port` returns when the driver says that the port has started, or fails.
acknowledged(Name, Flags) ->
    load(Name, Flags),
    [begin
         Me = self(),
         {Pid, M} = spawn_monitor(fun() ->
                                          process_flag(trap_exit, true),
                                          Me ! {self(), t:c(fun() -> open_port({spawn_driver, Name}, []) end)},
                                          receive X -> Me ! {self(), X} after 50 -> Me ! {self(), nothing} end
                                  end),
         t:p(open, receive {Pid, Early} -> {early, is_port(Early)} after 50 -> waits end),
         [P] = [Q || Q <- erlang:ports(), erlang:port_info(Q, name) =:= {name, Name}],
         P ! {Pid, {command, Command}},
         receive {Pid, Result} -> t:p(Command, if Result =:= P -> port; true -> Result end) after 1000 -> t:p(never) end,
         receive {Pid, {'EXIT', P, Why}} -> t:p(exit, Why); {Pid, Next} -> t:p(Next) after 1000 -> t:p(never) end,
         receive {'DOWN', M, _, _, _} -> ok end,
         timer:sleep(20)
     end || Command <- ["i", "1", "2", "3", "-"]],
    t:p(unload, erl_ddll:unload_driver(Name)).

close(P) -> port_close(P), timer:sleep(50), told(P), log(closed).
log(What) -> io:format("~p: ~s~n", [What, port_control(get(log), 0, "")]).
drop(P) -> receive {P, _} -> drop(P) after 0 -> ok end.
told(P) ->
    receive
        {'EXIT', P, Why} -> t:p(exit, Why), told(P);
        {P, What} -> t:p(port, What), told(P)
    after 0 -> ok
    end.
