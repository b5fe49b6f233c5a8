%% What processes are traced for besides calls: messages, and their lives.
-module(trace_events).
-export([main/0, idle/0]).

main() ->
    Pid = spawn(fun() -> loop() end),
    Other = spawn(fun() -> idle() end),
    put(names, [{Pid, tracee}, {Other, other}, {self(), main}]),
    1 = erlang:trace(Pid, true, [send, 'receive', procs]),
    do(Pid, fun() -> Other ! hello end),
    do(Pid, fun() -> link(Other), unlink(Other) end),
    do(Pid, fun() -> register(trace_events_name, self()), unregister(trace_events_name) end),
    do(Pid, fun() -> spawn(?MODULE, idle, []) end),
    io:format("~p~n", [erlang:trace_info(Pid, tracer) =:= {tracer, self()}]),
    1 = erlang:trace(Pid, false, [send, 'receive']),
    Pid ! stop,
    show(300),
    io:format("~p~n", [erlang:trace_info(Pid, flags)]),
    %% Children of a process traced with set_on_spawn are traced too.
    P2 = spawn(fun() -> receive go -> spawn(fun() -> exit(bye) end) end end),
    put(names, [{P2, second}, {self(), main}]),
    1 = erlang:trace(P2, true, [procs, set_on_spawn]),
    P2 ! go,
    L = collect(300),
    io:format("~p~n", [lists:sort([element(3, T) || T <- L])]),
    R = erlang:trace_delivered(all),
    receive {trace_delivered, all, R} -> io:format("delivered~n") end.

do(Pid, F) ->
    Pid ! {run, self(), F},
    receive done -> ok end,
    show(100).

show(Time) -> [io:format("  ~p~n", [plain(T)]) || T <- collect(Time)].

collect(Time) ->
    receive T when element(1, T) =:= trace -> [T | collect(Time)] after Time -> [] end.

plain(T) when is_tuple(T) -> list_to_tuple(plain(tuple_to_list(T)));
plain([H | T]) -> [plain(H) | plain(T)];
plain(P) when is_pid(P) -> proplists:get_value(P, get(names), pid);
plain(F) when is_function(F) -> a_fun;
plain(X) -> X.

loop() ->
    receive
        {run, From, F} -> F(), From ! done, loop();
        stop -> ok
    end.

idle() -> receive after 5000 -> ok end.
