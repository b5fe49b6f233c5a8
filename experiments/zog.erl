%% Experiment 5: processes against threads.
%%
%% N processes stand in a ring, each knowing the next. A number goes round and
%% is made smaller by one at each step, until M messages have been passed.
-module(zog).
-export([start/0, start/1, start/2, run/2, process/1]).

start() ->
    start(16000).

start(N) ->
    start(N, 1000000).

start(N, M) ->
    run(N, M).

%% The caller takes the name `zog` while it waits: whoever receives the last
%% number reports there, so that nothing but the number has to travel.
run(N, M) when N > 0, M > 0 ->
    true = register(zog, self()),
    T0 = now_us(),
    First = spawn(fun() -> receive {next, Next} -> process(Next) end end),
    Last = ring(N - 1, First),
    First ! {next, Last},
    T1 = now_us(),
    Last ! M,
    receive done -> ok end,
    T2 = now_us(),
    report("Setup", T1 - T0, N, "spawn"),
    report("Run", T2 - T1, M, "msg"),
    take_down(First),
    true = unregister(zog),
    ok.

ring(0, Next) ->
    Next;
ring(N, Next) ->
    ring(N - 1, spawn(?MODULE, process, [Next])).

process(Next) ->
    receive
        1 ->
            zog ! done,
            process(Next);
        N when is_integer(N) ->
            Next ! N - 1,
            process(Next);
        stop ->
            Next ! stop
    end.

%% `stop` goes round the ring; the first process gets it back last.
take_down(First) ->
    Ref = monitor(process, First),
    First ! stop,
    receive {'DOWN', Ref, process, First, _} -> ok end.

report(What, Micros, Count, Unit) ->
    io:format("~s : ~w s (~w us per ~s) (~w ~ss)~n",
              [What, Micros / 1000000, Micros / Count, Unit, Count, Unit]).

now_us() ->
    erlang:monotonic_time(microsecond).
