-module(waiting_lines).
-export([main/0, early/1, late/1, calls/1, loop/0, sleepy/1]).

%% Where a process says it waits: the last line of its code that has one.
main() ->
    [at(F, A) || {F, A} <- [{early, [60000]}, {late, [60000]}, {calls, [1]}, {loop, []}, {sleepy, [60000]}]].

at(F, A) ->
    P = spawn(?MODULE, F, A),
    wait(P),
    t:p({F, process_info(P, current_location)}),
    exit(P, kill).

wait(P) ->
    case process_info(P, status) of
        {status, waiting} -> ok;
        _ -> timer:sleep(1), wait(P)
    end.

early(T) when T > 100 ->
    receive
    after T ->
            T + t:id(1)
    end;
early(T) ->
    T.

late(T) when T < 100 ->
    receive
    after T ->
            late(T + t:id(1))
    end;
late(T) ->
    receive
    after T ->
            ok
    end.

calls(X) ->
    Y = t:id(X),
    Z = t:id(Y),
    receive
        {Y, Z} ->
            Z + t:id(1);
        Z ->
            ok
    end.

loop() ->
    receive
        stop ->
            t:id(ok);
        _ ->
            loop()
    end.

sleepy(T) ->
    timer:sleep(T),
    t:id(T).
