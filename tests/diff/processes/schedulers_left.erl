%% When a call that takes schedulers away returns, the others have given up what they ran.
-module(schedulers_left).
-export([main/0]).

main() ->
    Counts = counters:new(erlang:system_info(schedulers), []),
    All = erlang:system_info(schedulers_online),
    Busy = [spawn_link(fun() -> count(Counts) end) || _ <- lists:seq(1, 4)],
    [t:p({What, lists:sum([1 || _ <- lists:seq(1, 30), not rest_is_still(Counts, length(Busy), Take, Give)])})
     || {What, Take, Give} <-
            [{online, fun() -> All = erlang:system_flag(schedulers_online, 1) end,
                      fun() -> 1 = erlang:system_flag(schedulers_online, All) end},
             {block, fun() -> blocked = erlang:system_flag(multi_scheduling, block) end,
                     fun() -> enabled = erlang:system_flag(multi_scheduling, unblock) end},
             {block_normal, fun() -> blocked_normal = erlang:system_flag(multi_scheduling, block_normal) end,
                            fun() -> enabled = erlang:system_flag(multi_scheduling, unblock_normal) end}]],
    [begin unlink(P), exit(P, kill) end || P <- Busy],
    ok.

%% A process that was preempted between its two calls may count once for the scheduler it left.
rest_is_still(Counts, Stale, Take, Give) ->
    Take(),
    Before = rest(Counts),
    timer:sleep(3),
    After = rest(Counts),
    Give(),
    timer:sleep(1),
    After - Before =< Stale.

rest(Counts) ->
    lists:sum([counters:get(Counts, I) || I <- lists:seq(2, erlang:system_info(schedulers))]).

count(Counts) ->
    counters:add(Counts, erlang:system_info(scheduler_id), 1),
    count(Counts).
