%% Ordinary work: small programs, each of one kind of thing that programs do. A
%% module for each family has a table of them: a name, what it does once, and
%% what that must come to. Each runs in a process of its own, a tenth of the
%% times untimed first; what it comes to is looked at every time.
%%
%%   erl -noshell -s work start numbers 20
-module(work).
-export([start/1]).

start([Family, Times]) ->
    Count = list_to_integer(atom_to_list(Times)),
    Module = list_to_atom("work_" ++ atom_to_list(Family)),
    [run(Family, Program, Count) || Program <- Module:programs()],
    halt().

run(Family, {Name, Fun, Result}, Count) ->
    {Pid, Monitor} = spawn_monitor(fun() -> exit({took, timed(Fun, Result, Count)}) end),
    receive
        {'DOWN', Monitor, process, Pid, {took, {Good, Micros}}} ->
            io:format("work/~w/~w ~w in ~w s~n", [Family, Name, Good, Micros / 1000000])
    end.

timed(Fun, Result, Count) ->
    times(Count div 10 + 1, Fun, Result, 0),
    Start = erlang:monotonic_time(microsecond),
    Good = times(Count, Fun, Result, 0),
    {Good, max(1, erlang:monotonic_time(microsecond) - Start)}.

%% How many times it came to what it must.
times(0, _, _, Good) -> Good;
times(N, Fun, Result, Good) ->
    case Fun() of
        Result -> times(N - 1, Fun, Result, Good + 1);
        _ -> times(N - 1, Fun, Result, Good)
    end.
