%% What counts as one of the system's own processes; init asks while it kills all others.
-module(system_processes).
-export([main/0]).

main() ->
    {Dead, M} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', M, process, Dead, normal} -> ok end,
    System = fun erts_internal:is_system_process/1,
    t:p([System(P) || P <- [Dead, self(), whereis(init), whereis(erts_code_purger)]]),
    t:pc(fun() -> System(t:id(here)) end),
    %% Killing and asking in a loop, as init does at the end.
    Pids = [spawn(fun() -> receive after infinity -> ok end end) || _ <- lists:seq(1, 100)],
    t:p(until_dead(Pids)).

until_dead([]) -> none;
until_dead(Pids) ->
    [exit(P, kill) || P <- Pids],
    until_dead([P || P <- processes(), lists:member(P, Pids), not erts_internal:is_system_process(P)]).
