%% Experiment 2: ports under load.
%%
%%   erl -noshell -s pipe_ring start 10 100000 8
%%
%% Par rings of N relays. Each relay owns a port to its own `cat`. The number K
%% enters each ring; a relay writes the number it holds to its `cat`, reads the
%% line that comes back, and hands the line's number less one to the next relay.
%% At 0 the ring closes its ports.
-module(pipe_ring).
-export([start/1, run/3, make_relay/1]).

start([N, K, Par]) ->
    run(number(N), number(K), number(Par)),
    halt().

%% All rings are set up before the clock of the whole run starts: opening ports
%% is reported for each ring, the run counts messages only.
run(N, K, Par) ->
    Rings = [setup(Ring, N) || Ring <- lists:seq(1, Par)],
    Start = now_us(),
    lists:foreach(fun([First | _]) -> First ! K end, Rings),
    lists:foreach(fun wait_closed/1, Rings),
    Micros = max(1, now_us() - Start),
    io:format("(total run (N:~w K:~w Par:~w) ~wms ~w/s)~n",
              [N, K, Par, Micros div 1000, K * Par * 1000000 div Micros]).

setup(Ring, N) ->
    Start = now_us(),
    Owner = self(),
    Relays = [spawn_link(?MODULE, make_relay, [Owner]) || _ <- lists:seq(1, N)],
    lists:foreach(fun(R) -> receive {ready, R} -> ok end end, Relays),
    [First | Others] = Relays,
    connect(Relays, Others ++ [First]),
    io:format("(ring~w setup time: ~ws)~n", [Ring, (now_us() - Start) / 1000000]),
    Relays.

connect([], []) ->
    ok;
connect([Relay | Relays], [Next | Nexts]) ->
    Relay ! {next, Next},
    connect(Relays, Nexts).

wait_closed(Relays) ->
    lists:foreach(fun(R) -> receive {closed, R} -> ok end end, Relays).

make_relay(Owner) ->
    Port = open_port({spawn, "/bin/cat"}, [in, out, {line, 128}]),
    Owner ! {ready, self()},
    receive {next, Next} -> relay(Owner, Port, Next) end.

relay(Owner, Port, Next) ->
    receive
        K when is_integer(K), K > 0 ->
            port_command(Port, [integer_to_list(K), $\n]),
            relay(Owner, Port, Next);
        {Port, {data, {eol, Line}}} ->
            Next ! list_to_integer(Line) - 1,
            relay(Owner, Port, Next);
        Close when Close =:= 0; Close =:= close ->
            port_close(Port),
            Next ! close,
            Owner ! {closed, self()}
    end.

number(Atom) ->
    list_to_integer(atom_to_list(Atom)).

now_us() ->
    erlang:monotonic_time(microsecond).
