%% erlang:statistics/1: what each item looks like, and that what only grows does.
-module(statistics_items).
-export([main/0]).

main() ->
    erlang:system_flag(scheduler_wall_time, false),
    t:p({off, [statistics(I) || I <- [scheduler_wall_time, scheduler_wall_time_all]]}),
    t:p({on, erlang:system_flag(scheduler_wall_time, true)}),
    [t:p({I, shape(statistics(I))}) || I <- items()],
    [t:p({I, lengths, long(I, statistics(I))}) || I <- lists()],
    [t:p({I, grows, grows(I)}) || I <- [context_switches, reductions, exact_reductions, runtime,
                                        wall_clock, garbage_collection, io]],
    t:p({wall_times, wall_times()}),
    t:p({ids, [I || {I, _, _} <- lists:sort(statistics(scheduler_wall_time_all))]
              =:= lists:seq(1, threads(all))}),
    t:p({run_queues, tuple_size(statistics(run_queues)) - erlang:system_info(schedulers)}),
    t:p({active, statistics(total_active_tasks) >= 1, lists:sum(statistics(active_tasks)) >= 1}),
    t:p({waiting, waiting()}),
    t:p({since, since(reductions), since(wall_clock), since(runtime)}),
    t:p({off, erlang:system_flag(scheduler_wall_time, false), statistics(scheduler_wall_time)}),
    [t:pc(fun() -> statistics(t:id(I)) end) || I <- [foo, 1, "io", {io}, [], run_queues_all]].

lists() ->
    [run_queue_lengths, run_queue_lengths_all, active_tasks, active_tasks_all,
     scheduler_wall_time, scheduler_wall_time_all].
items() ->
    lists() ++ [total_run_queue_lengths, total_run_queue_lengths_all, total_active_tasks,
     total_active_tasks_all, run_queue, context_switches, reductions, exact_reductions, runtime,
     wall_clock, garbage_collection, io, microstate_accounting].

%% Numbers are what they are; lists of the same are as long as there are threads.
shape(N) when is_integer(N), N >= 0 -> n;
shape(L) when is_list(L) -> {list, lists:usort([shape(X) || X <- L])};
shape(T) when is_tuple(T) -> list_to_tuple([shape(X) || X <- tuple_to_list(T)]);
shape(M) when is_map(M) -> map;
shape(X) -> X.

long(I, L) -> length(L) - case I of
    scheduler_wall_time -> threads(cpu);
    scheduler_wall_time_all -> threads(all);
    _ -> case lists:suffix("_all", atom_to_list(I)) of
             true -> erlang:system_info(schedulers) + 2;
             false -> erlang:system_info(schedulers) + 1
         end
end.

threads(cpu) -> erlang:system_info(schedulers) + erlang:system_info(dirty_cpu_schedulers);
threads(all) -> threads(cpu) + erlang:system_info(dirty_io_schedulers).

grows(I) ->
    A = first(statistics(I)),
    work(200000),
    [erlang:garbage_collect() || _ <- "0123456789"],
    receive after 20 -> ok end,
    Port = open_port({spawn, "echo 123"}, [exit_status]),
    receive {Port, {exit_status, 0}} -> ok end,
    receive after 5 -> ok end,
    B = first(statistics(I)),
    case B > A of
        true -> yes;
        false when I =:= runtime, B =:= A -> yes;
        false -> {A, B}
    end.

first({{input, N}, {output, _}}) -> N;
first(T) -> element(1, T).

work(0) -> ok;
work(N) -> work(N - 1).

%% Active time is part of all time, and who works is active.
wall_times() ->
    A = lists:sort(statistics(scheduler_wall_time)),
    Until = erlang:monotonic_time(millisecond) + 100,
    busy(Until),
    B = lists:sort(statistics(scheduler_wall_time)),
    Normal = erlang:system_info(schedulers),
    D = [{I, A1 - A0, T1 - T0} || {{I, A0, T0}, {I, A1, T1}} <- lists:zip(A, B), I =< Normal],
    {lists:all(fun({_, Active, Total}) -> 0 =< Active andalso Active =< Total end, D),
     lists:sum([Active / Total || {_, Active, Total} <- D]) > 0.5}.

busy(Until) ->
    case erlang:monotonic_time(millisecond) < Until of
        true -> busy(Until);
        false -> ok
    end.

%% Many that can run, with all schedulers busy, are seen to wait.
waiting() ->
    process_flag(priority, high),
    Pids = [spawn_link(fun loop/0) || _ <- lists:seq(1, 50)],
    receive after 50 -> ok end,
    Seen = [statistics(I) || I <- [total_run_queue_lengths, run_queue, total_active_tasks]],
    Lists = [lists:sum(statistics(I)) || I <- [run_queue_lengths, active_tasks]],
    [begin unlink(P), exit(P, kill) end || P <- Pids],
    process_flag(priority, normal),
    {[N >= 40 andalso N =< 60 || N <- Seen], [N >= 40 andalso N =< 60 || N <- Lists]}.

loop() -> loop().

%% The second number is what came since the last call.
since(I) ->
    {A, _} = statistics(I),
    work(1000000),
    {B, D} = statistics(I),
    B - A =:= D.
