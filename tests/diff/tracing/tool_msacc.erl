%% OTP's `msacc` as it is: what it gathers and prints.
-module(tool_msacc).
-export([main/0]).

main() ->
    t:p({available, msacc:available()}),
    t:p({start, msacc:start(200)}),
    Stats = msacc:stats(),
    S = [M || #{type := scheduler} = M <- Stats],
    t:p({schedulers, length(S) =:= erlang:system_info(schedulers)}),
    t:p({pool, length([M || #{type := dirty_io_scheduler} = M <- Stats])}),
    t:p({keys, lists:usort([lists:sort(maps:keys(M)) || M <- S])}),
    t:p({states, lists:usort([lists:sort(maps:keys(C)) || #{counters := C} <- S])}),
    %% A scheduler's states, in microseconds, make up what was waited for.
    Ms = [lists:sum(maps:values(C)) div 1000 || #{counters := C} <- S],
    t:p({time, lists:usort([N >= 190 andalso N < 5000 || N <- Ms])}),
    %% Of the real time; of the time not asleep.
    Real = percents(system, msacc:stats(realtime, Stats)),
    t:p({realtime, [abs(X - 100) < 2 || X <- Real]}),
    t:p({runtime, [X >= 0 || X <- percents(thread, msacc:stats(runtime, Stats))] =/= []}),
    t:p({types, lists:member(scheduler, [T || #{type := T} <- msacc:stats(type, Stats)])}),
    %% What it prints: the header and a line for each thread of those that both have.
    File = filename:join(t:tmp("msacc"), "msacc"),
    {ok, F} = file:open(File, [write]),
    ok = msacc:print(F, Stats, #{system => true}),
    ok = file:close(F),
    {ok, B} = file:read_file(File),
    Lines = string:split(B, "\n", all),
    t:p({header, [hd(string:split(L, ":")) || L <- lists:sublist(Lines, 3)]}),
    t:p({columns, [C || L <- Lines, C <- string:lexemes(L, " "), <<"Thread">> =:= hd(string:lexemes(L, " "))]}),
    t:p({threads, length([L || L <- Lines, [<<"scheduler(">>, _ | _] <- [string:lexemes(L, " ")]])
             =:= erlang:system_info(schedulers)}),
    Save = filename:join(t:tmp("stats"), "stats"),
    t:p({saved, msacc:to_file(Save), is_list(msacc:from_file(Save))}),
    t:p({reset, msacc:reset(), msacc:stop(), msacc:stop()}).

%% The sum over all threads and states of their parts of the system's time; or each scheduler's.
percents(system, Stats) ->
    [lists:sum([S || #{counters := C} <- Stats, #{system := S} <- maps:values(C)])];
percents(thread, Stats) ->
    [lists:sum([T || #{thread := T} <- maps:values(C)]) || #{type := scheduler, counters := C} <- Stats].
