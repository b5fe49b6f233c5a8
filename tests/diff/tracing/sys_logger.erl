%% system_flag(system_logger): who gets what the machine logs.
-module(sys_logger).
-export([main/0]).

main() ->
    t:p(erlang:system_info(system_logger)),
    S = self(),
    L = spawn(fun Loop() -> receive M -> S ! {log, M}, Loop() end end),
    t:p(erlang:system_flag(system_logger, L)),
    t:p(erlang:system_info(system_logger) =:= L),
    crash(),
    receive {log, {log, Level, Format, [P, Reason], Meta}} ->
        t:p({Level, Format, is_pid(P), element(1, Reason), lists:sort(maps:keys(Meta)),
             maps:get(error_logger, Meta)})
    end,
    t:p(erlang:system_flag(system_logger, L) =:= L),
    Ref = monitor(process, L),
    exit(L, kill),
    receive {'DOWN', Ref, _, _, _} -> ok end,
    t:p(is_pid(erlang:system_info(system_logger))),
    crash(),
    t:p(erlang:system_info(system_logger)),
    t:p(erlang:system_flag(system_logger, undefined)),
    crash(),
    t:p(erlang:system_flag(system_logger, logger)),
    [t:pc(fun() -> erlang:system_flag(system_logger, X) end) || X <- [1, nobody, "x", {a}, []]].

crash() ->
    {P, R} = spawn_monitor(fun() -> error(gone) end),
    receive {'DOWN', R, process, P, _} -> ok end.
