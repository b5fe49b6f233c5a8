%% Experiment 3 from inside: context switches and reductions each second while
%% two processes play ping-pong.
-module(switches).
-export([start/1, partner/0]).

start([Ms]) ->
    Partner = spawn(?MODULE, partner, []),
    Player = spawn(fun() -> Partner ! {ping, self()}, play(Partner, 0) end),
    receive after 200 -> ok end,
    {Switches0, Reductions0, T0} = sample(),
    receive after list_to_integer(atom_to_list(Ms)) -> ok end,
    {Switches1, Reductions1, T1} = sample(),
    Seconds = (T1 - T0) / 1000000,
    exit(Player, kill),
    Switches = Switches1 - Switches0,
    io:format("switches ~w /s reductions ~w /s ns ~w~n",
              [Switches / Seconds, (Reductions1 - Reductions0) / Seconds,
               (T1 - T0) * 1000 / max(1, Switches)]),
    halt().

sample() ->
    {Switches, 0} = statistics(context_switches),
    {Reductions, _} = statistics(exact_reductions),
    {Switches, Reductions, erlang:monotonic_time(microsecond)}.

play(Partner, N) ->
    receive pong -> Partner ! {ping, self()}, play(Partner, N + 1) end.

partner() ->
    receive {ping, From} -> From ! pong, partner() end.
