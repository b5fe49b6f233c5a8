%% since 29
-module(suspended_timers).
-export([main/0]).

%% The timers of a suspended process stand still. Nothing here is decided by how long it takes: the
%% process is suspended before its timer is set, or the attempt is repeated if it came too late.
main() ->
    message_timers(),
    receive_timeout(),
    twice(),
    named().

message_timers() ->
    Self = self(),
    P = spawn(fun() -> forward(Self) end),
    true = erlang:suspend_process(P),
    R1 = erlang:start_timer(40, P, second),
    R2 = erlang:send_after(20, P, first),
    R3 = erlang:send_after(1000000, P, never),
    receive after 200 -> ok end,
    io:format("waiting: ~p~n", [process_info(P, message_queue_len)]),
    io:format("by reference: ~p~n",
              [[erlang:read_timer(R1), erlang:cancel_timer(R2), erlang:cancel_timer(R3)]]),
    true = erlang:resume_process(P),
    [receive M -> io:format("~p~n", [strip(M, R1)]) end || _ <- [1, 2]],
    %% A timer that was set before is lost by its reference as well.
    R4 = erlang:send_after(1000000, P, never),
    io:format("still known: ~p~n", [is_integer(erlang:read_timer(R4))]),
    true = erlang:suspend_process(P),
    true = erlang:resume_process(P),
    io:format("no longer: ~p~n", [erlang:read_timer(R4)]),
    io:format("after its end: ~p~n", [ended(P)]).

strip({timeout, R, What}, R) -> {timeout, What};
strip(M, _) -> M.

forward(To) ->
    receive M -> To ! M end,
    forward(To).

ended(P) ->
    true = erlang:suspend_process(P),
    erlang:send_after(1, P, m),
    receive after 20 -> ok end,
    M = monitor(process, P),
    exit(P, kill),
    receive {'DOWN', M, _, _, Why} -> Why end.

receive_timeout() ->
    Self = self(),
    P = spawn(fun() -> receive go -> Self ! went after 300 -> Self ! too_late end end),
    wait(P),
    true = erlang:suspend_process(P),
    receive
        too_late -> receive_timeout()
    after 600 ->
        P ! go,
        true = erlang:resume_process(P),
        receive M -> io:format("~p~n", [M]) end
    end.

wait(P) ->
    case process_info(P, status) of
        {status, waiting} -> ok;
        undefined -> ok;
        _ -> wait(P)
    end.

%% It stands still until the last one resumes it.
twice() ->
    Self = self(),
    P = spawn(fun() -> forward(Self) end),
    true = erlang:suspend_process(P),
    Other = spawn(fun() ->
        true = erlang:suspend_process(P), Self ! ready, receive stop -> ok end end),
    receive ready -> ok end,
    erlang:send_after(10, P, rung),
    true = erlang:resume_process(P),
    receive after 100 -> io:format("~p~n", [process_info(P, message_queue_len)]) end,
    Other ! stop,
    receive rung -> io:format("rung~n") end.

%% One that is sent to a name does not know the process.
named() ->
    Self = self(),
    P = spawn(fun() -> forward(Self) end),
    register(some_name, P),
    true = erlang:suspend_process(P),
    R = erlang:send_after(10, some_name, by_name),
    wait_for_message(P),
    io:format("~p~n", [erlang:read_timer(R)]),
    true = erlang:resume_process(P),
    receive M -> io:format("~p~n", [M]) end.

wait_for_message(P) ->
    case process_info(P, message_queue_len) of
        {message_queue_len, 1} -> ok;
        _ -> wait_for_message(P)
    end.
