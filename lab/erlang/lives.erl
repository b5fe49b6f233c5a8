%% Whole lives of processes one after the other: start one linked to us, send
%% it a message, take its answer, and see it end.
%%
%%   erl -noshell -s lives start 300000
-module(lives).
-export([start/1, live/1]).

start([Lives]) ->
    Count = list_to_integer(atom_to_list(Lives)),
    process_flag(trap_exit, true),
    loop(Count div 10, 0),
    Start = erlang:monotonic_time(microsecond),
    Seen = loop(Count, 0),
    Micros = max(1, erlang:monotonic_time(microsecond) - Start),
    io:format("lives ~w in ~w s~n", [Seen, Micros / 1000000]),
    halt().

loop(0, Seen) -> Seen;
loop(N, Seen) ->
    Pid = spawn_link(?MODULE, live, [self()]),
    Pid ! {hello, N},
    receive {Pid, N} -> ok end,
    receive {'EXIT', Pid, normal} -> ok end,
    loop(N - 1, Seen + 1).

live(Parent) ->
    receive {hello, N} -> Parent ! {self(), N} end.
