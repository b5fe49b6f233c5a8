%% Experiment 3 from inside: context switches and reductions each second while
%% two processes play ping-pong. kvik also says how long it was from one turn
%% to the next, as a histogram: the shortest time of a bucket, and how many a
%% second there were.
-module(switches).
-export([start/1, partner/0]).

start([Ms]) ->
    Partner = spawn(?MODULE, partner, []),
    Player = spawn(fun() -> Partner ! {ping, self()}, play(Partner, 0) end),
    receive after 200 -> ok end,
    Rounds0 = rounds(),
    {Switches0, Reductions0, T0} = sample(),
    receive after list_to_integer(atom_to_list(Ms)) -> ok end,
    {Switches1, Reductions1, T1} = sample(),
    Rounds1 = rounds(),
    Seconds = (T1 - T0) / 1000000,
    exit(Player, kill),
    Switches = Switches1 - Switches0,
    io:format("switches ~w /s reductions ~w /s ns ~w~n",
              [Switches / Seconds, (Reductions1 - Reductions0) / Seconds,
               (T1 - T0) * 1000 / max(1, Switches)]),
    [io:format("histogram ~w ~w /s~n", [Shortest, New / Seconds])
     || {Shortest, Count} <- lists:sort(maps:to_list(Rounds1)),
        New <- [Count - maps:get(Shortest, Rounds0, 0)], New > 0],
    halt().

%% What no other machine tells.
rounds() ->
    case erlang:function_exported(kvik, scheduling, 0) orelse erlang:is_builtin(kvik, scheduling, 0) of
        true ->
            #{schedule := #{histogram := Histogram}} = kvik:scheduling(),
            Histogram;
        false ->
            #{}
    end.

sample() ->
    {Switches, 0} = statistics(context_switches),
    {Reductions, _} = statistics(exact_reductions),
    {Switches, Reductions, erlang:monotonic_time(microsecond)}.

play(Partner, N) ->
    receive pong -> Partner ! {ping, self()}, play(Partner, N + 1) end.

partner() ->
    receive {ping, From} -> From ! pong, partner() end.
