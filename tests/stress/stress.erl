%% Bad use, and much of it: each case does what a careless program might do, checks that the answers
%% are OTP's, and measures how long a process that ticks beside it was kept waiting. tests/stress/run
%% starts each in a machine of its own.
-module(stress).
-export([main/1, times/2, rss/0]).

%% What the program ends with where somebody waited longer than may be, and all else was right.
-define(STALLED, 3).

main(["memory"]) -> memory_stress:main();
main([Case]) ->
    process_flag(trap_exit, true),
    %% Of high priority: what it waits for then is no turn among thousands that all want to run, but
    %% what cannot be interrupted.
    Ticker = spawn_opt(fun () -> ticker(now_ms(), 0, 0, []) end, [link, {priority, high}]),
    timer:sleep(200),
    {_, [Idle | _]} = so_far(Ticker),
    {Time, Said} = timer:tc(fun () -> run(list_to_atom(Case)) end),
    {Ticks, [Longest | Others]} = so_far(Ticker),
    nothing_left(),
    io:format("~s: ~s~b ms; of ~b ticks one waited ~b ms of processor time, others ~w; ~b with nothing beside it~n",
              [Case, Said, Time div 1000, Ticks, Longest, Others, Idle]),
    May = stall(list_to_atom(Case)),
    case Longest - Idle < May orelse Longest - beside_counting(Ticker, Time div 1000) < May of
        true -> halt(0);
        false -> halt(?STALLED)
    end.

%% How long the ticker waits, in as many milliseconds, where processes do nothing but count. They can be
%% interrupted at any time, so what it waits then the computer has taken: a virtual one is itself kept
%% from running at times, and that may pass for its own processor time.
beside_counting(Ticker, Time) ->
    so_far(Ticker),
    Counting = [spawn_link(fun count/0) || _ <- lists:seq(1, erlang:system_info(schedulers))],
    timer:sleep(Time),
    {_, [Longest | Others]} = so_far(Ticker),
    [begin exit(P, kill), receive {'EXIT', P, killed} -> ok end end || P <- Counting],
    io:format("   beside processes that only count: ~b ms, others ~w~n", [Longest, Others]),
    Longest.

count() -> count().

%% Milliseconds of this program's processor time that the ticker may be kept waiting, beyond what it is
%% where nothing runs beside it. Processor time is what the machine itself did: other programs beside
%% it do not count.
stall(Case) ->
    case lists:member(Case, [dead, mailbox, limit, timers, storm, order]) of
        true -> 10;
        false -> 500
    end.

%% What the ticker has seen, which begins anew.
so_far(Ticker) ->
    Ticker ! {say, self()},
    receive {stalls, N, Stalls} -> {N, Stalls} end.

%% Processor time that all threads of this program have had, and the clock.
now_ms() -> {cpu_ms(), erlang:monotonic_time(millisecond)}.

%% OTP's leaves out what the kernel does for it, as when it clears pages.
cpu_ms() ->
    case erlang:function_exported(kvik, processor_time, 0) of
        true -> kvik:processor_time() div 1_000_000;
        false -> element(1, statistics(runtime))
    end.

%% Sleeps a millisecond, again and again; keeps how much was done meanwhile, of the five longest times.
%% Where the program was kept from running (the clock went on, its processor time did not), what came
%% due by then is done in a row, before the next tick's turn. That does not count as waiting until a tick
%% is in time again, as far as it takes no longer than the program was kept.
ticker({Cpu, Clock}, Missed, N, Stalls) ->
    receive
        {say, From} ->
            From ! {stalls, N, Stalls ++ [0 || Stalls =:= []]},
            ticker(now_ms(), 0, 0, [])
    after 1 ->
        {Cpu1, Clock1} = now_ms(),
        Had = Cpu1 - Cpu,
        Took = Clock1 - Clock,
        Kept = Missed + max(0, Took - Had - 2),
        Left = if Took =< 3 -> 0; true -> max(0, Kept - Had) end,
        Waited = max(0, Had - Kept),
        ticker(now_ms(), Left, N + 1, lists:sublist(lists:reverse(lists:sort([Waited | Stalls])), 5))
    end.

nothing_left() ->
    receive M -> error({left, M}) after 0 -> ok end.

times(0, _) -> ok;
times(N, F) -> F(), times(N - 1, F).

%% A pid that was one.
dead() ->
    {P, M} = spawn_monitor(fun () -> ok end),
    receive {'DOWN', M, process, P, normal} -> P end.

%% What a call comes to.
came_to(F) ->
    try F() catch C:R -> {C, R} end.

%% ---- signals to nobody ----

run(dead) ->
    Never = list_to_pid("<0.32767.8191>"),
    Dead = [dead(), dead(), Never],
    Each = fun (P) ->
        hello = came_to(fun () -> P ! hello end),
        ok = came_to(fun () -> erlang:send(P, hello, [nosuspend, noconnect]) end),
        true = came_to(fun () -> exit(P, kill) end),
        false = is_process_alive(P),
        undefined = process_info(P),
        undefined = process_info(P, messages),
        true = came_to(fun () -> unlink(P) end),
        M = monitor(process, P),
        receive {'DOWN', M, process, P, noproc} -> ok end,
        true = link(P),
        receive {'EXIT', P, noproc} -> ok end,
        {error, badarg} = came_to(fun () -> register(nobody_here, P) end),
        {error, badarg} = came_to(fun () -> group_leader(self(), P) end),
        {error, badarg} = came_to(fun () -> erlang:suspend_process(P) end),
        false = came_to(fun () -> garbage_collect(P) end),
        nothing_left()
    end,
    {error, badarg} = came_to(fun () -> nobody_here ! hello end),
    {nobody_here, node()} ! hello,
    {error, badarg} = came_to(fun () -> unregister(nobody_here) end),
    undefined = whereis(nobody_here),
    Untrapped = spawn_monitor(fun () -> link(Never), receive after infinity -> ok end end),
    receive {'DOWN', _, process, P, R} when P =:= element(1, Untrapped) -> noproc = reason(R) end,
    N = 3000,
    Many = [spawn_monitor(fun () -> process_flag(trap_exit, true), times(N, fun () -> lists:foreach(Each, Dead) end) end)
            || _ <- [1, 2, 3, 4]],
    [receive {'DOWN', Ref, process, Pid, Why} -> normal = Why end || {Pid, Ref} <- Many],
    "errors as they should be, ";

%% ---- a mailbox that nobody reads ----

run(mailbox) ->
    Max = #{size => 2000000, kill => true, error_logger => false},
    {P, M} = spawn_opt(fun looks_for_another/0, [monitor, {max_heap_size, Max}, {message_queue_data, on_heap}]),
    Senders = [spawn_link(fun () -> flood(P, lists:seq(1, 20)) end) || _ <- [1, 2, 3]],
    receive {'DOWN', M, process, P, Reason} -> killed = Reason end,
    [begin exit(S, kill), receive {'EXIT', S, killed} -> ok end end || S <- Senders],
    "killed as max_heap_size says, ";

%% ---- more processes than there may be (+P 5000) ----

run(limit) ->
    Limit = erlang:system_info(process_limit),
    true = Limit < 20000,
    Wait = fun () -> receive stop -> ok end end,
    All = spawn_all(Wait, []),
    Limit = erlang:system_info(process_count),
    times(200, fun () ->
        {error, system_limit} = came_to(fun () -> spawn(Wait) end),
        {error, system_limit} = came_to(fun () -> spawn_link(Wait) end),
        {error, system_limit} = came_to(fun () -> spawn_monitor(Wait) end),
        {error, system_limit} = came_to(fun () -> spawn_opt(Wait, [link, monitor]) end),
        Ref = spawn_request(Wait, [monitor]),
        receive {spawn_reply, Ref, error, E} -> system_limit = E end
    end),
    [P ! stop || P <- All],
    [begin M = monitor(process, P), receive {'DOWN', M, process, P, _} -> ok end end || P <- All],
    %% There is room again, and numbers go round.
    times(3 * Limit, fun dead/0),
    io_lib:format("~b of ~b processes, ", [length(All), Limit]);

%% ---- a million timers ----

run(timers) ->
    N = 1000000,
    Self = self(),
    Start = erlang:monotonic_time(millisecond),
    %% Each with its own part of them.
    Owners = [spawn_link(fun () -> Self ! {self(), some_timers(N div 1000)} end) || _ <- lists:seq(1, 1000)],
    {Cancelled, Came} = lists:unzip([receive {P, Counts} -> receive {'EXIT', P, normal} -> Counts end end || P <- Owners]),
    N = lists:sum(Cancelled) + lists:sum(Came),
    Took = erlang:monotonic_time(millisecond) - Start,
    true = Took >= 2000,
    io_lib:format("~b cancelled, ~b came, ", [lists:sum(Cancelled), lists:sum(Came)]);

%% ---- many ends at once ----

run(storm) ->
    N = 20000,
    %% All linked to one that dies.
    times(3, fun () ->
        {Hub, M} = spawn_monitor(fun () -> receive die -> exit(storm) end end),
        Leaves = [spawn_monitor(fun () -> link(Hub), receive after infinity -> ok end end) || _ <- lists:seq(1, N)],
        Hub ! die,
        Why = ends([{Hub, M} | Leaves]),
        true = lists:member(lists:usort(Why), [[storm], [noproc, storm]])
    end),
    %% A chain of links, broken at its head.
    {Head, HM} = spawn_monitor(fun () -> chain(N) end),
    exit(Head, chain),
    receive {'DOWN', HM, process, Head, chain} -> ok end,
    %% All that die are linked to one that traps exits, and watched by it.
    All = [spawn_opt(fun () -> receive go -> exit(gone) end end, [link, monitor]) || _ <- lists:seq(1, N)],
    [P ! go || {P, _} <- All],
    times(2 * N, fun () ->
        receive
            {'EXIT', _, gone} -> ok;
            {'DOWN', _, process, _, gone} -> ok
        end
    end),
    %% One is watched by all.
    Self = self(),
    {Seen, SM} = spawn_monitor(fun () -> receive die -> ok end end),
    Watchers = [spawn_link(fun () ->
                    R = monitor(process, Seen), Self ! ready,
                    receive {'DOWN', R, process, Seen, normal} -> ok end
                end) || _ <- lists:seq(1, N)],
    times(N, fun () -> receive ready -> ok end end),
    Seen ! die,
    times(length(Watchers), fun () -> receive {'EXIT', _, normal} -> ok end end),
    receive {'DOWN', SM, process, Seen, normal} -> ok end,
    settled(),
    "all ended, ";

%% ---- signals keep their order ----

run(order) ->
    times(100, fun order/0),
    "100 times 40 senders, ";

%% ---- files that wait, and a disk that is kept busy ----

run(files) ->
    Dir = filename:dirname(code:which(?MODULE)),
    Name = fun (What) -> filename:join(Dir, lists:concat([What, ".", os:getpid()])) end,
    Fifo = Name(fifo),
    "" = os:cmd("mkfifo '" ++ Fifo ++ "'"),
    {ok, Open} = file:open(Fifo, [read, write, raw]),
    Readers = [spawn_link(fun () -> {ok, F} = file:open(Fifo, [read, raw]), file:read(F, 1) end) || _ <- lists:seq(1, 8)],
    Files = [Name("sync" ++ integer_to_list(N)) || N <- lists:seq(1, 8)],
    Syncing = counters:new(1, []),
    %% What other programs do shows in some windows and not in all.
    Windows = [files_window(Files, Syncing) || _ <- lists:seq(1, 6)],
    [begin exit(P, kill), receive {'EXIT', P, killed} -> ok end end || P <- Readers],
    ok = file:write(Open, "12345678"),
    ok = file:close(Open),
    [ok = file:delete(F) || F <- [Fifo | Files]],
    {Late, Rates} = lists:unzip(Windows),
    Syncs = counters:get(Syncing, 1),
    io:format("files: ~b syncs; ticks late by at most ~w ms; ping-pong's rate ~w of what it is without~n",
              [Syncs, [L div 10 / 100 || L <- Late], [round(R * 100) / 100 || R <- Rates]]),
    true = Syncs > 20,
    lists:min(Late) =< 5000 andalso lists:max(Rates) >= 0.9 orelse halt(?STALLED),
    "nobody waits, ";

%% ---- a million processes ----

run(million) ->
    N = 1000000,
    Self = self(),
    %% Once on a small scale, so that code and tables are there.
    crowd(Self, 1000),
    settled(),
    Before = rss(),
    Peak = crowd(Self, N),
    After = back_to(Before * 1.2, 100),
    Said = io_lib:format("~b MB before, ~b MB with them, ~b MB after, ", [Before div 1024, Peak div 1024, After div 1024]),
    After =< Before * 1.2 orelse error({memory, lists:flatten(Said)}),
    Said;

run(Case) -> port_stress:run(Case).

%% How late ticks are at most (microseconds) while files are synced all the time, and ping-pong's rate
%% compared with that when they are not.
files_window(Files, Syncing) ->
    {_, Alone} = beside_pingpong(400),
    Syncers = [spawn_link(fun () -> {ok, F} = file:open(N, [write, raw]), sync_on(F, Syncing) end) || N <- Files],
    {Late, Rate} = beside_pingpong(400),
    [begin exit(P, kill), receive {'EXIT', P, killed} -> ok end end || P <- Syncers],
    {Late, Rate / Alone}.

%% Some disks sync in no time at all; then this would be about who gets the processor.
sync_on(F, Syncing) ->
    receive after 2 -> ok end,
    ok = file:pwrite(F, 0, <<(erlang:unique_integer()):64, 0:8000>>),
    ok = file:sync(F),
    counters:add(Syncing, 1, 1),
    sync_on(F, Syncing).

%% For so many milliseconds: how late ticks are at most, and round trips in a nanosecond of the
%% scheduler's processor time.
beside_pingpong(Ms) ->
    Self = self(),
    Stat = scheduler(),
    End = erlang:monotonic_time(microsecond) + Ms * 1000,
    {Cpu, _} = had(Stat),
    Pong = spawn_link(fun pong/0),
    Ping = spawn_link(fun () -> Self ! {self(), ping(Pong, End, 0)} end),
    Tick = spawn_opt(fun () -> Self ! {self(), tick(Stat, now_us(Stat), End, 0)} end, [link, {priority, high}]),
    [Trips, Late] = [receive {P, N} -> receive {'EXIT', P, normal} -> N end end || P <- [Ping, Tick]],
    receive {'EXIT', Pong, normal} -> ok end,
    {Cpu1, _} = had(Stat),
    {Late, Trips / (Cpu1 - Cpu)}.

%% Where the system says how long the one scheduler's thread has run and how long it was kept from
%% that by other threads (nanoseconds). What others do to it is not counted.
scheduler() ->
    Is = fun (Comm) -> lists:member(element(2, file:read_file(Comm)), [<<"sched 1\n">>, <<"1_scheduler\n">>]) end,
    %% A thread has the name of the one that started it until it has run: the first is the scheduler's.
    Number = fun (Comm) -> list_to_integer(lists:nth(5, filename:split(Comm))) end,
    All = [{Number(C), C} || C <- filelib:wildcard("/proc/self/task/*/comm"), Is(C)],
    {_, Comm} = lists:min(All),
    filename:join(filename:dirname(Comm), "schedstat").

had(Stat) ->
    {ok, Line} = file:read_file(Stat),
    [Ran, Waited, _] = [list_to_integer(N) || N <- string:lexemes(binary_to_list(Line), " \n")],
    {Ran, Waited}.

%% The time in microseconds, without that.
now_us(Stat) ->
    {_, Waited} = had(Stat),
    erlang:monotonic_time(microsecond) - Waited div 1000.

ping(Pong, End, N) ->
    times(100, fun () -> Pong ! self(), receive pong -> ok end end),
    case erlang:monotonic_time(microsecond) of
        Now when Now < End -> ping(Pong, End, N + 100);
        _ -> Pong ! stop, N
    end.

pong() ->
    receive stop -> ok; P -> P ! pong, pong() end.

tick(Stat, Last, End, Late) ->
    receive after 1 -> ok end,
    Now = now_us(Stat),
    case erlang:monotonic_time(microsecond) < End of
        true -> tick(Stat, Now, End, max(Late, Now - Last - 1000));
        false -> Late
    end.

reason({R, [_ | _]}) -> R;
reason(R) -> R.

looks_for_another() ->
    _ = lists:seq(1, 1000),
    receive never -> ok after 5 -> looks_for_another() end.

flood(P, M) -> P ! M, flood(P, M).

spawn_all(F, Acc) ->
    case came_to(fun () -> spawn(F) end) of
        P when is_pid(P) -> spawn_all(F, [P | Acc]);
        {error, system_limit} -> Acc
    end.

%% The reasons for which they end, in the order in which they do.
ends(All) -> ends(maps:from_list([{R, P} || {P, R} <- All]), []).
ends(Left, Why) when map_size(Left) =:= 0 -> Why;
ends(Left, Why) ->
    receive {'DOWN', R, process, P, W} -> P = maps:get(R, Left), ends(maps:remove(R, Left), [reason(W) | Why]) end.

%% Half a million ring in four seconds: a machine with other work can still keep up with them. Where it
%% cannot, whose time comes later has to wait for those before.
some_timers(N) ->
    Refs = [erlang:start_timer(2000 + 5 * I rem 4000, self(), I) || I <- lists:seq(1, N)],
    Cancelled = length([R || {I, R} <- lists:enumerate(Refs), I rem 2 =:= 0, is_integer(erlang:cancel_timer(R))]),
    times(N - Cancelled, fun () -> receive {timeout, _, I} when is_integer(I) -> ok end end),
    {Cancelled, N - Cancelled}.

chain(0) -> receive after infinity -> ok end;
chain(N) -> spawn_link(fun () -> chain(N - 1) end), receive after infinity -> ok end.

%% Waits until the processes that were told to end have.
settled() ->
    case erlang:system_info(process_count) of
        N when N < 200 -> ok;
        _ -> timer:sleep(20), settled()
    end.

%% Each sender sends numbers as messages, by its name and by alias, sets and clears links, and ends; what
%% arrives from one sender has to be in the order in which it was sent, its end last.
order() ->
    Self = self(),
    PerSender = 300,
    Alias = alias(),
    register(receiver, self()),
    Senders = [spawn_opt(fun () -> sender(Self, Alias, PerSender) end, [link, monitor]) || _ <- lists:seq(1, 40)],
    ordered(maps:from_list([{P, {1, PerSender, M}} || {P, M} <- Senders])),
    unregister(receiver),
    unalias(Alias),
    nothing_left().

sender(To, Alias, N) ->
    [begin
         case I rem 5 of
             0 -> Alias ! {self(), I};
             1 -> receiver ! {self(), I};
             2 -> exit(To, {self(), I});
             3 -> erlang:send(To, {self(), I}, [nosuspend]);
             4 -> To ! {self(), I}, erlang:yield()
         end
     end || I <- lists:seq(1, N)],
    exit(done).

ordered(Left) when map_size(Left) =:= 0 -> ok;
ordered(Left) ->
    {Who, What} =
        receive
            {P, Number} when is_integer(Number) -> {P, Number};
            {'EXIT', P, {P, Number}} -> {P, Number};
            {'EXIT', P, done} -> {P, exit};
            {'DOWN', M, process, P, done} -> {P, M}
        end,
    case {maps:get(Who, Left), What} of
        {{I, N, Ref}, I} -> ordered(Left#{Who := {I + 1, N, Ref}});
        {{Next, N, Ref}, exit} when Next =:= N + 1 -> ordered(Left#{Who := {down, Ref}});
        {{Next, N, Ref}, Ref} when Next =:= N + 1 -> ordered(Left#{Who := exit});
        {{down, Ref}, Ref} -> ordered(maps:remove(Who, Left));
        {exit, exit} -> ordered(maps:remove(Who, Left));
        {Expected, Got} -> error({order, Expected, Got})
    end.

%% So many processes under one that they are linked to; each answers a message; the one is killed, and
%% they are gone with it. The memory they took, all alive.
crowd(Self, N) ->
    {Hub, Ref} = spawn_monitor(fun () ->
        Pids = [spawn_link(fun echo/0) || _ <- lists:seq(1, N)],
        [P ! {self(), 1} || P <- Pids],
        times(N, fun () -> receive 2 -> ok end end),
        Self ! {answered, erlang:system_info(process_count)},
        receive after infinity -> ok end
    end),
    receive {answered, Count} -> true = Count >= N end,
    Peak = rss(),
    exit(Hub, kill),
    receive {'DOWN', Ref, process, Hub, killed} -> ok end,
    settled(),
    Peak.

echo() ->
    receive {From, I} -> From ! I + 1 end,
    echo().

rss() ->
    {ok, Status} = file:read_file("/proc/self/status"),
    {match, [KB]} = re:run(Status, "VmRSS:\\s*([0-9]+)", [{capture, all_but_first, list}]),
    list_to_integer(KB).

%% Memory may take some time to go back to the system.
back_to(Most, Tries) ->
    erlang:garbage_collect(),
    case rss() of
        Now when Now =< Most; Tries =:= 0 -> Now;
        _ -> timer:sleep(50), back_to(Most, Tries - 1)
    end.
