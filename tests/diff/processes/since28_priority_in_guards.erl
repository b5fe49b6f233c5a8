%% Priority messages and collections that come while a guard goes through a long list of a message: its turn
%% ends meanwhile, and the message goes back to its place in the queue.
-module(since28_priority_in_guards).
-export([main/0]).

main() ->
    [kind(Kind) || Kind <- [numbers, references, binaries]],
    halt().

kind(Kind) ->
    Main = self(),
    {Receiver, Monitor} = spawn_monitor(fun() -> receiver(Main, Kind) end),
    Alias = receive {alias, A} -> A end,
    [Receiver ! {item, I, value(Kind, I)} || I <- lists:seq(1, 6)],
    Receiver ! go,
    Sender = spawn(fun() -> send(Alias, Receiver, 1) end),
    receive {'DOWN', Monitor, process, Receiver, Result} -> io:format("~p~n", [{Kind, Result}]) end,
    exit(Sender, kill).

receiver(Main, Kind) ->
    Main ! {alias, alias([priority])},
    receive go -> ok end,
    none = skip(15),
    [garbage_collect() || _ <- [1, 2]],
    All = all(),
    exit({length(All), [is_whole(Kind, V) || V <- All]}).

skip(0) -> none;
skip(N) ->
    none = receive
               {item, _, V} when length(V) > 1000000 -> V;
               {item, _, V} when length([1 | V]) > 1000000; map_size(V) > 1 -> V
           after 0 -> none
           end,
    drain(),
    skip(N - 1).

drain() -> receive {priority, _} -> drain() after 0 -> ok end.

all() -> receive {item, _, V} -> [V | all()] after 0 -> [] end.

send(Alias, Receiver, N) ->
    erlang:send(Alias, {priority, N}, [priority]),
    erlang:garbage_collect(Receiver),
    timer:sleep(1),
    send(Alias, Receiver, N + 1).

value(numbers, I) -> lists:seq(I, 200000 + I);
value(references, I) -> [[I | make_ref()] || _ <- lists:seq(1, 50000)];
value(binaries, I) -> [<<I:64, X:32>> || X <- lists:seq(1, 50000)].

is_whole(numbers, [I | _] = V) -> V =:= lists:seq(I, 200000 + I);
is_whole(references, [[I | _] | _] = V) -> length(V) =:= 50000 andalso lists:all(fun([J | R]) -> J =:= I andalso is_reference(R) end, V);
is_whole(binaries, [<<I:64, _:32>> | _] = V) -> V =:= value(binaries, I).
