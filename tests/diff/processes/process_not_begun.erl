%% What is told of a process that has not run yet: the function it was spawned with.
-module(process_not_begun).
-export([main/0, wait/1]).

main() ->
    erlang:system_flag(multi_scheduling, block),
    [show(Item, Start)
     || Item <- [current_function, current_location, current_stacktrace, initial_call],
        Start <- [fun() -> spawn(?MODULE, wait, [1]) end,
                  fun() -> spawn(fun() -> wait(2) end) end,
                  fun() -> proc_lib:spawn(?MODULE, wait, [3]) end]],
    erlang:system_flag(multi_scheduling, unblock),
    ok.

show(Item, Start) ->
    erlang:yield(),
    P = Start(),
    Info = erlang:process_info(P, Item),
    exit(P, kill),
    t:p(Info).

wait(_) -> receive stop -> ok end.
