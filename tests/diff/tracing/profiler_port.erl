%% A port as the profiler of erlang:system_profile/2: what is set and refused, what its driver hears of
%% processes, ports and schedulers, that it hears nothing of itself, and what becomes of it when it ends.
-module(profiler_port).
-export([main/0, loop/0]).

main() ->
    settings(),
    turns(),
    others(),
    schedulers(),
    ends().

settings() ->
    Q = port("settings"),
    t:p(before, erlang:system_profile(Q, [runnable_procs, exclusive])),
    t:p(set, {Q, [exclusive, runnable_procs]} =:= erlang:system_profile()),
    P = spawn(?MODULE, loop, []),
    t:p(other, {Q, [exclusive, runnable_procs]} =:= erlang:system_profile(P, [scheduler])),
    t:p(back, {P, [scheduler]} =:= erlang:system_profile(Q, [scheduler])),
    t:pc(wrong, fun() -> erlang:system_profile(Q, [what]) end),
    t:p(off, {Q, [scheduler]} =:= erlang:system_profile(undefined, [])),
    port_close(Q),
    t:pc(closed, fun() -> erlang:system_profile(Q, [scheduler]) end),
    t:pc(none, fun() -> erlang:system_profile(list_to_port("#Port<0.123456>"), [scheduler]) end),
    t:p(still, erlang:system_profile()),
    exit(P, kill).

%% Each time it is asked something, a process that waited wakes and waits again.
turns() ->
    Q = port("turns"),
    undefined = erlang:system_profile(Q, [runnable_procs]),
    P = spawn(?MODULE, loop, []),
    heard(Q, "turns", P, 2),
    [begin
         P ! {answer, self()},
         receive ok -> ok end,
         heard(Q, "turns", P, 2 + 2 * I)
     end || I <- lists:seq(1, 5)],
    P ! stop,
    Events = heard(Q, "turns", P, 14),
    {Q, _} = erlang:system_profile(undefined, []),
    port_close(Q),
    t:p(turns, [{A, W} || {profile, _, A, W, {_, _, _}} <- Events]).

others() ->
    Q = port("ports"),
    undefined = erlang:system_profile(Q, [runnable_ports, monotonic_timestamp]),
    R = open_port({spawn, "cat"}, [binary]),
    [begin
         port_command(R, <<"abc">>),
         receive {R, {data, _}} -> ok end
     end || _ <- [1, 2, 3]],
    port_close(R),
    Events = heard(Q, "ports", R, 8),
    port_control(Q, $f, ""),
    {Q, _} = erlang:system_profile(undefined, []),
    t:p(ports, {t:by_turns([A || {profile, _, A, 0, T} <- Events, is_integer(T)]), length(Events) >= 8}),
    t:p(itself, of_one(Q, "ports")),
    port_close(Q).

schedulers() ->
    Q = port("schedulers"),
    undefined = erlang:system_profile(Q, [scheduler, monotonic_timestamp]),
    Events = heard(Q, "schedulers", scheduler, 2),
    {Q, _} = erlang:system_profile(undefined, []),
    N = erlang:system_info(schedulers),
    Good = fun({profile, scheduler, Id, A, Awake, T}) ->
                   Id >= 1 andalso Id =< N andalso Awake >= 0 andalso Awake =< N
                       andalso is_integer(T) andalso (A =:= active orelse A =:= inactive);
              (_) -> false
           end,
    t:p(schedulers, lists:all(Good, Events)),
    port_close(Q).

%% A profiler that is closed is none any more.
ends() ->
    Q = port("ends"),
    undefined = erlang:system_profile(Q, [runnable_procs, runnable_ports, scheduler]),
    port_close(Q),
    P = spawn(?MODULE, loop, []),
    P ! {answer, self()},
    receive ok -> ok end,
    t:await(fun() -> erlang:system_profile() =:= undefined end),
    t:p(ended, erlang:system_profile()),
    exit(P, kill).

port(File) -> (dbg:trace_port(file, File))().

%% What is in the file of that one, as soon as there are so many.
heard(Port, File, Who, N) ->
    port_control(Port, $f, ""),
    case of_one(Who, File) of
        Events when length(Events) >= N -> Events;
        _ -> timer:sleep(5), heard(Port, File, Who, N)
    end.
of_one(Who, File) ->
    {ok, B} = file:read_file(File),
    [E || E <- frames(B), element(2, E) =:= Who].
frames(<<0, N:32, B:N/binary, Rest/binary>>) -> [binary_to_term(B) | frames(Rest)];
frames(_) -> [].

loop() ->
    receive
        {answer, P} -> P ! ok, loop();
        stop -> ok
    end.
