%% erlang:system_profile/0,2: settings, what is refused, and what a profiler hears of processes,
%% ports and schedulers. Only processes of the program are looked at, at moments when they wait.
-module(system_profile).
-export([main/0, loop/0, collect/1, brief/1]).

main() ->
    settings(),
    refused(),
    ended(),
    [turns(S) || S <- [[], [timestamp], [monotonic_timestamp], [strict_monotonic_timestamp]]],
    lives(),
    suspended(),
    itself(),
    ports(),
    exclusive(),
    schedulers().

settings() ->
    P = spawn(?MODULE, collect, [[]]),
    io:format("~p~n", [erlang:system_profile()]),
    All = [[runnable_procs], [runnable_ports], [exclusive], [scheduler], [timestamp],
           [runnable_ports, exclusive, scheduler, runnable_procs],
           [runnable_ports, runnable_ports, monotonic_timestamp, timestamp],
           [strict_monotonic_timestamp, runnable_procs]],
    [begin
         Before = erlang:system_profile(P, O),
         {P, Now} = erlang:system_profile(),
         Again = named(P, erlang:system_profile(P, O)),
         Off = named(P, erlang:system_profile(undefined, O)),
         io:format("~w: ~w ~w ~w ~w ~w~n",
                   [O, Before, Now, Again, Off, erlang:system_profile()])
     end || O <- All],
    undefined = erlang:system_profile(P, [exclusive]),
    io:format("~p~n", [named(P, erlang:system_profile(P, []))]),
    io:format("~p~n", [erlang:system_profile(undefined, [])]),
    exit(P, kill).

named(P, {P, L}) -> {profiler, L};
named(_, Other) -> Other.

refused() ->
    P = spawn(?MODULE, collect, [[]]),
    Dead = spawn(fun() -> ok end),
    wait_for_end(Dead),
    undefined = erlang:system_profile(P, [exclusive]),
    [io:format("~w ~w: ~w~n", [W, O, refusal(Who, O)]) ||
        {W, Who, O} <- [{p, P, [what]}, {p, P, [exclusive|runnable_procs]}, {p, P, exclusive},
                        {p, P, [{exclusive, true}]}, {dead, Dead, [exclusive]},
                        {name, init, [exclusive]}, {number, 17, [scheduler]},
                        {ref, make_ref(), [scheduler]}]],
    %% Where nothing is asked for, nobody looks who asks for it.
    io:format("~p~n", [named(P, erlang:system_profile())]),
    io:format("~p~n", [named(P, erlang:system_profile(17, []))]),
    io:format("~p~n", [erlang:system_profile(undefined, what)]),
    exit(P, kill).

refusal(Who, O) ->
    try erlang:system_profile(Who, O) catch error:E -> E end.

ended() ->
    P = spawn(?MODULE, collect, [[]]),
    undefined = erlang:system_profile(P, [runnable_procs, scheduler]),
    exit(P, kill),
    wait_for_end(P),
    io:format("ended: ~p~n", [erlang:system_profile()]).

wait_for_end(P) ->
    R = monitor(process, P),
    receive {'DOWN', R, _, _, _} -> ok end.

%% One process that is asked something five times, and then ends.
turns(Stamp) ->
    L = spawn(?MODULE, loop, []),
    settle(),
    C = on([runnable_procs | Stamp]),
    [begin L ! {answer, self()}, receive ok -> ok end, settle() end || _ <- lists:seq(1, 5)],
    L ! {wait, 20},
    timer:sleep(60),
    L ! stop,
    settle(),
    Events = off(C),
    Of = [E || E <- Events, element(2, E) =:= L],
    io:format("~0p ~0p~n", [Stamp, [{A, W} || {profile, _, A, W, _} <- Of]]),
    Times = [T || {profile, _, _, _, T} <- Of],
    io:format("  ~p ~p~n", [lists:usort([shape(T) || T <- Times]), Times =:= lists:sort(Times)]).

shape({A, B, C}) when is_integer(A), is_integer(B), is_integer(C) -> timestamp;
shape({A, B}) when is_integer(A), is_integer(B) -> strict;
shape(N) when is_integer(N) -> monotonic;
shape(_) -> none.

%% From the beginning to the end.
lives() ->
    C = on([runnable_procs]),
    A = spawn(?MODULE, brief, [self()]),
    receive {A, done} -> ok end,
    settle(),
    B = spawn(?MODULE, loop, []),
    settle(),
    exit(B, kill),
    settle(),
    D = spawn(erlang, hibernate, [?MODULE, loop, []]),
    settle(),
    D ! stop,
    settle(),
    F = spawn(fun() -> receive after 10 -> erlang:error(oops) end end),
    wait_for_end(F),
    settle(),
    Events = off(C),
    [io:format("~0p ~0p~n", [N, [{X, W} || {profile, Q, X, W, _} <- Events, Q =:= P]]) ||
        {N, P} <- [{brief, A}, {killed, B}, {hibernates, D}, {fails, F}]].

brief(P) -> erlang:yield(), P ! {self(), done}.

%% A message wakes no suspended process.
suspended() ->
    L = spawn(?MODULE, loop, []),
    settle(),
    true = erlang:suspend_process(L),
    settle(),
    C = on([runnable_procs]),
    L ! {answer, self()},
    settle(),
    L ! {answer, self()},
    settle(),
    true = erlang:resume_process(L),
    [receive ok -> ok end || _ <- [1, 2]],
    settle(),
    io:format("suspended ~p~n", [[A || {profile, P, A, _, _} <- off(C), P =:= L]]),
    L ! stop.

%% The profiler hears nothing of itself, and of this process that it goes by turns.
itself() ->
    C = on([runnable_procs]),
    [begin C ! {answer, self()}, receive ok -> ok end end || _ <- lists:seq(1, 10)],
    Me = self(),
    Events = off(C),
    io:format("profiler ~p~n", [[E || {profile, P, _, _, _} = E <- Events, P =:= C]]),
    io:format("by turns ~p~n", [t:by_turns([A || {profile, P, A, _, _} <- Events, P =:= Me])]).

ports() ->
    C = on([runnable_ports]),
    Port = open_port({spawn, "cat"}, [binary]),
    [begin
         port_command(Port, <<"abc">>),
         receive {Port, {data, _}} -> ok end
     end || _ <- [1, 2, 3]],
    port_close(Port),
    settle(),
    Events = off(C),
    Of = [E || E <- Events, element(2, E) =:= Port],
    io:format("port ~p ~p ~p~n", [length(Of) >= 12, t:by_turns([element(3, E) || E <- Of]),
                                  lists:usort([{A, W} || {profile, _, A, W, _} <- Of])]),
    io:format("others ~p~n", [[E || E <- Events, is_pid(element(2, E))]]).

exclusive() ->
    Port = open_port({spawn, "cat"}, [binary]),
    C = on([runnable_ports, runnable_procs, exclusive]),
    port_command(Port, <<"abc">>),
    settle(),
    Me = self(),
    Events = off(C),
    port_close(Port),
    %% What comes first: this process steps back, and the port is at work meanwhile.
    First = [{name(P, Me, Port), A} || {profile, P, A, _, _} <- Events, P =:= Me orelse P =:= Port],
    io:format("~p~n", [lists:sublist(First, 4)]).

name(P, P, _) -> me;
name(P, _, P) -> port.

schedulers() ->
    C = on([scheduler, monotonic_timestamp]),
    timer:sleep(100),
    Events = off(C),
    N = erlang:system_info(schedulers),
    Good = fun({profile, scheduler, Id, A, Awake, T}) ->
                   Id >= 1 andalso Id =< N andalso Awake >= 0 andalso Awake =< N
                       andalso is_integer(T) andalso (A =:= active orelse A =:= inactive);
              (_) -> false
           end,
    io:format("schedulers ~p ~p~n", [Events =/= [], lists:all(Good, Events)]).

on(What) ->
    C = spawn(?MODULE, collect, [[]]),
    undefined = erlang:system_profile(C, What),
    C.
off(C) ->
    {C, _} = erlang:system_profile(undefined, []),
    settle(),
    C ! {get, self()},
    receive {C, Events} -> Events end.
settle() -> timer:sleep(15).

collect(Events) ->
    receive
        {get, P} -> P ! {self(), lists:reverse(Events)};
        {answer, P} -> P ! ok, collect(Events);
        E -> collect([E | Events])
    end.

loop() ->
    receive
        {answer, P} -> P ! ok, loop();
        {wait, T} -> pause(T), loop();
        stop -> ok
    end.
pause(T) -> receive after T -> ok end, ok.
