%% Experiment 1: how fast can Erlang send messages?
%%
%%   1> ipctest:oneway().      messages per second, one direction
%%   2> ipctest:pingpong().    round trips per second
%%   3> ipctest:pingpong(N).   the same, of N instead of ten million; oneway(N) too
-module(ipctest).
-export([oneway/0, oneway/1, pingpong/0, pingpong/1, consumer/0]).
-compile(nowarn_deprecated_function).

-define(COUNT, 10000000).

%% One process sends as fast as it can; the last message asks for an answer,
%% so the clock stops when the other side has taken everything.
oneway() ->
    oneway(?COUNT).

oneway(Count) ->
    Consumer = spawn(?MODULE, consumer, []),
    Send = fun() -> Consumer ! message end,
    Start = erlang:now(),
    times(Count - 1, Send),
    Consumer ! {done, self()},
    receive ok -> ok end,
    per_second(Count, Start, erlang:now()).

%% Each message waits for its answer: two switches between processes a round.
pingpong() ->
    pingpong(?COUNT).

pingpong(Count) ->
    Consumer = spawn(?MODULE, consumer, []),
    Round = fun() ->
                    Consumer ! {ping, self()},
                    receive pong -> ok end
            end,
    Start = erlang:now(),
    times(Count, Round),
    Stop = erlang:now(),
    Consumer ! {done, self()},
    receive ok -> ok end,
    per_second(Count, Start, Stop).

%% The other side of both.
consumer() ->
    receive
        message ->
            consumer();
        {ping, From} ->
            From ! pong,
            consumer();
        {done, From} ->
            From ! ok
    end.

times(0, _Fun) ->
    ok;
times(N, Fun) ->
    Fun(),
    times(N - 1, Fun).

per_second(Count, Start, Stop) ->
    Count * 1000000 / timer:now_diff(Stop, Start).
