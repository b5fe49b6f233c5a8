%% OTP's `scheduler` as it is: how busy the schedulers were.
-module(tool_scheduler).
-export([main/0]).

main() ->
    t:p({off, erlang:system_flag(scheduler_wall_time, false)}),
    t:p({kinds, kinds(scheduler:utilization(1))}),
    t:p({on, erlang:system_flag(scheduler_wall_time, true)}),
    A = scheduler:sample(),
    First = scheduler:sample_all(),
    t:p({samples, [element(1, S) || S <- [A, First, scheduler:get_sample(), scheduler:get_sample_all()]]}),
    Until = erlang:monotonic_time(millisecond) + 200,
    busy(Until),
    U = scheduler:utilization(A),
    t:p({kinds, kinds(U), kinds(scheduler:utilization(First, scheduler:sample_all()))}),
    %% One scheduler was busy: that much, and not much more, of all.
    {total, Total, _} = lists:keyfind(total, 1, U),
    Normal = [X || {normal, _, X, _} <- U],
    t:p({busy, lists:max(Normal) > 0.5, lists:all(fun(X) -> X >= 0.0 andalso X =< 1.01 end, Normal)}),
    All = [X || {T, _, X, _} <- U, T =:= normal orelse T =:= cpu],
    t:p({total, abs(lists:sum(All) / length(All) - Total) < 0.001}),
    t:p({idle, [X || {T, _, X, _} <- U, T =:= cpu, X > 0.1]}),
    t:p({percent, lists:usort([lists:last(P) || {_, _, _, P} <- U])}),
    erlang:system_flag(scheduler_wall_time, false),
    t:p({undefined, scheduler:get_sample(), scheduler:get_sample_all()}).

%% How many of each there are, against what the system has.
kinds(U) ->
    Kinds = [element(1, T) || T <- U],
    Count = fun(K) -> length([x || X <- Kinds, X =:= K]) end,
    [{total, Count(total)}, {weighted, Count(weighted)},
     {normal, Count(normal) =:= erlang:system_info(schedulers)},
     {cpu, Count(cpu) =:= erlang:system_info(dirty_cpu_schedulers)},
     {io, Count(io) =:= 0 orelse Count(io) =:= erlang:system_info(dirty_io_schedulers)}].

busy(Until) ->
    case erlang:monotonic_time(millisecond) < Until of
        true -> busy(Until);
        false -> ok
    end.
