%% Who a traced message is from, as patterns for `receive` see it: a process and its node, a port, the clock, the system.
-module(trace_senders).
-export([main/0]).
-define(PATTERN, [{['$1', '$2', '_'], [], [{message, {{'$1', '$2'}}}]}]).

main() ->
    erlang:trace_pattern('receive', ?PATTERN, []),
    case_of(send, fun(P, _) -> P ! hello, [hello] end),
    case_of(send_self, fun(_, _) -> {run, fun() -> self() ! hello end, 1} end),
    case_of(timeout, fun(_, _) -> {run, fun() -> receive nothing -> ok after 1 -> ok end end, 1} end),
    case_of(poll, fun(_, _) -> {run, fun() -> receive nothing -> ok after 0 -> ok end end, 1} end),
    case_of(send_after, fun(_, _) -> {run, fun() -> erlang:send_after(1, self(), hello) end, 1} end),
    case_of(start_timer, fun(_, _) -> {run, fun() -> erlang:start_timer(1, self(), hello) end, 1} end),
    case_of(exit_of_linked, fun(_, _) -> {run, fun() -> spawn_link(fun() -> exit(x) end) end, 1} end),
    case_of(exit_signal, fun(_, _) -> {run, fun() -> exit(self(), x) end, 1} end),
    case_of(down, fun(_, _) -> {run, fun() -> spawn_monitor(fun() -> exit(x) end) end, 1} end),
    case_of(down_at_once, fun(_, _) -> Dead = dead(), {run, fun() -> monitor(process, Dead) end, 1} end),
    case_of(down_no_name, fun(_, _) -> {run, fun() -> monitor(process, nobody_here) end, 1} end),
    case_of(down_name, fun(_, _) -> {run, fun down_name/0, 1} end),
    case_of(down_port, fun(_, _) -> {run, fun down_port/0, 1} end),
    case_of(port_data, fun(_, _) -> {run, fun() -> port_command(open_port({spawn, "cat"}, []), "x") end, 1} end),
    case_of(exit_status, fun(_, _) -> {run, fun() -> open_port({spawn, "true"}, [exit_status]) end, 1} end),
    case_of(spawn_reply, fun(_, _) -> {run, fun() -> spawn_request(fun() -> ok end) end, 1} end),
    case_of(spawn_error, fun(_, _) -> {run, fun() -> spawn_request(fun() -> ok end, [nonsense]) end, 1} end),
    case_of(alias, fun(_, _) -> {run, fun() -> A = alias(), spawn(fun() -> A ! hello end) end, 1} end),
    case_of(name, fun(P, _) -> register(trace_senders, P), trace_senders ! hello, [hello] end),
    case_of(task, fun(_, Main) -> {run, fun() -> erlang:garbage_collect(Main, [{async, 1}]) end, 1} end),
    case_of(suspend, fun(_, _) -> {run, fun suspend/0, 1} end),
    wall_time().

%% What a process receives after it was told to run something.
case_of(Name, F) ->
    Main = self(),
    P = spawn(fun() -> process_flag(trap_exit, true), loop() end),
    Tracer = spawn_link(fun() -> tracer(Main) end),
    1 = erlang:trace(P, true, ['receive', {tracer, Tracer}]),
    N = case F(P, Main) of
        {run, Run, Count} -> P ! {run, Run}, Count + 1;
        Sent -> length(Sent)
    end,
    io:format("~p:", [Name]),
    [io:format(" ~p", [told(receive {Tracer, T} -> T end, P, Main)]) || _ <- lists:seq(1, N)],
    io:nl(),
    unlink(Tracer), exit(P, kill), exit(Tracer, kill).

loop() -> receive {run, F} -> F(), wait() end.
wait() -> receive never -> ok end.
%% Answers of calls that another machine may make without messages are left out.
tracer(To) ->
    receive
        {trace, _, _, {R, _}, _} when is_reference(R) -> tracer(To);
        T -> To ! {self(), T}, tracer(To)
    end.
dead() -> {P, R} = spawn_monitor(fun() -> ok end), receive {'DOWN', R, _, _, _} -> P end.

down_name() ->
    P = spawn(fun() -> receive stop -> exit(x) end end),
    register(trace_senders_named, P),
    monitor(process, trace_senders_named),
    P ! stop.
down_port() ->
    P = open_port({spawn, "cat"}, []),
    monitor(port, P),
    unlink(P),
    port_close(P).
suspend() ->
    P = spawn(fun wait/0),
    erlang:suspend_process(P, [{asynchronous, tag}]).

told({trace, P, 'receive', {run, _}, From}, P, Main) -> {run, who(From, P, Main)};
told({trace, P, 'receive', M, From}, P, Main) -> {shape(M), who(From, P, Main)}.

shape(M) when is_tuple(M) -> [E || E <- tuple_to_list(M), is_atom(E)];
shape(M) -> M.
who({Node, Pid}, P, Main) -> {node_or_port(Node), who(Pid, P, Main)};
who(P, P, _) -> itself;
who(Main, _, Main) -> main;
who(P, _, _) when is_pid(P) -> process;
who(X, _, _) -> X.
node_or_port(P) when is_port(P) -> port;
node_or_port(N) -> N.

%% Processes that want scheduler_wall_time are counted.
wall_time() ->
    io:format("~p~n", [erlang:system_flag(scheduler_wall_time, true)]),
    io:format("~p~n", [erlang:system_flag(scheduler_wall_time, true)]),
    {P, R} = spawn_monitor(fun() -> exit(erlang:system_flag(scheduler_wall_time, true)) end),
    receive {'DOWN', R, process, P, Was} -> io:format("~p~n", [Was]) end,
    io:format("~p~n", [erlang:system_flag(scheduler_wall_time, false)]),
    io:format("~p~n", [is_list(erlang:statistics(scheduler_wall_time))]),
    io:format("~p~n", [erlang:system_flag(scheduler_wall_time, false)]),
    io:format("~p~n", [erlang:statistics(scheduler_wall_time)]),
    io:format("~p~n", [catch element(1, element(2, catch erlang:system_flag(scheduler_wall_time, 1)))]).
