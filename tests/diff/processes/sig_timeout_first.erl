%% A receive whose time is over before its process has a turn ends so, whatever came meanwhile.
-module(sig_timeout_first).
-export([main/0]).

main() ->
    [t:p({Order, Wait, one(Order, Wait)}) || Order <- [message_first, time_first, message_only],
                                               Wait <- [any, selective]],
    R = erlang:start_timer(1000, self(), x),
    Left = erlang:read_timer(R),
    t:p({left, Left =< 1000, Left > 500, erlang:cancel_timer(R) =< 1000}).

one(Order, Wait) ->
    Own = self(),
    P = spawn(fun() -> Own ! ready, receive go -> Own ! {self(), wait(Wait, time(Order)), rest()} end end),
    receive ready -> ok end,
    P ! other,
    P ! go,
    waits(P),
    erlang:suspend_process(P),
    Order =:= time_first andalso timer:sleep(200),
    P ! {message, 1},
    P ! {message, lists:seq(1, 300)},
    Order =:= message_first andalso timer:sleep(200),
    erlang:resume_process(P),
    receive {P, Got, Rest} -> {Got, length(Rest)} end.

time(message_only) -> 60000;
time(_) -> 100.

wait(any, Time) -> receive {message, 1} = M -> M after Time -> timeout end;
wait(selective, Time) -> receive {message, [_ | _]} -> long after Time -> timeout end.

rest() -> receive M -> [M | rest()] after 0 -> [] end.

%% Until it is in its receive.
waits(P) ->
    case process_info(P, [status, current_function, message_queue_len]) of
        [{status, waiting}, {current_function, {?MODULE, wait, 2}}, {message_queue_len, 1}] -> ok;
        _ -> erlang:yield(), waits(P)
    end.
