%% Several processes at work at once, on two schedulers: eight senders to one
%% receiver; one pair that plays ping-pong, then two pairs.
%%
%%   erl +S 2 -noshell -s crowd senders 250000
%%   erl +S 2 -noshell -s crowd pairs 1000000
-module(crowd).
-export([senders/1, pairs/1, echo/0]).

-define(SENDERS, 8).

senders([Messages]) ->
    Each = number(Messages),
    send_all(?SENDERS, Each div 10),
    report("senders", fun() -> send_all(?SENDERS, Each) end),
    halt().

pairs([Rounds]) ->
    Each = number(Rounds),
    play_all(1, Each div 10),
    report("pairs/1", fun() -> play_all(1, Each) end),
    report("pairs/2", fun() -> play_all(2, Each) end),
    halt().

report(Name, Work) ->
    Start = erlang:monotonic_time(microsecond),
    Count = Work(),
    Micros = max(1, erlang:monotonic_time(microsecond) - Start),
    io:format("~s ~w in ~w s~n", [Name, Count, Micros / 1000000]).

%% How many messages arrived.
send_all(K, N) ->
    Self = self(),
    Receiver = spawn_link(fun() -> Self ! {took, take(0, K)} end),
    [spawn_link(fun() -> send(Receiver, N), Receiver ! done end) || _ <- lists:seq(1, K)],
    receive {took, Count} -> Count end.

take(Count, 0) -> Count;
take(Count, Senders) ->
    receive
        {From, N} when is_pid(From), is_integer(N) -> take(Count + 1, Senders);
        done -> take(Count, Senders - 1)
    end.

send(_, 0) -> ok;
send(Receiver, N) -> Receiver ! {self(), N}, send(Receiver, N - 1).

%% How many round trips all pairs have made.
play_all(K, N) ->
    Self = self(),
    [spawn_link(fun() -> Self ! {played, pair(N)} end) || _ <- lists:seq(1, K)],
    lists:sum([receive {played, Count} -> Count end || _ <- lists:seq(1, K)]).

pair(N) ->
    Partner = spawn_link(?MODULE, echo, []),
    Count = play(Partner, N, 0),
    Partner ! stop,
    Count.

play(_, 0, Count) -> Count;
play(Partner, N, Count) ->
    Partner ! {self(), N},
    receive N -> play(Partner, N - 1, Count + 1) end.

echo() ->
    receive
        {From, Message} -> From ! Message, echo();
        stop -> ok
    end.

number(Atom) ->
    list_to_integer(atom_to_list(Atom)).
