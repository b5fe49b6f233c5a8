%% Ports beside the pipe ring (experiments/pipe_ring.erl): what it costs this
%% machine, lines of other lengths, opening and closing, and many at once.
%%
%%   erl -noshell -s ports ring 10 100000 8
%%   erl -noshell -s ports lines 256
%%   erl -noshell -s ports open 2000
%%   erl -noshell -s ports many 1000 100
-module(ports).
-export([ring/1, lines/1, open/1, many/1, echo/3]).

%% The ring, and the processor time of this program alone: what the programs
%% behind the ports use is theirs.
ring(Args) ->
    [N, K, Par] = numbers(Args),
    Before = cpu_ms(),
    pipe_ring:run(N, K, Par),
    io:format("cpu ~w ms~n", [max(1, cpu_ms() - Before)]),
    halt().

%% What `statistics(runtime)` tells is on OTP only what the program does outside
%% of the system: the fields utime and stime, in hundredths of a second.
cpu_ms() ->
    {ok, Stat} = file:read_file("/proc/self/stat"),
    [_, Fields] = binary:split(Stat, <<") ">>),
    [User, System] = lists:sublist(binary:split(Fields, <<" ">>, [global]), 12, 2),
    10 * (binary_to_integer(User) + binary_to_integer(System)).

%% So many megabytes through `cat` and back, in lines of each length (the
%% shortest ones fewer), not counting what ends them. Some are under way all the
%% time.
lines([MB]) ->
    [Megabytes] = numbers([MB]),
    lists:foreach(fun({Length, Part}) -> lines(Length, Megabytes * 1048576 div Part) end,
                  [{1, 1024}, {128, 16}, {4096, 2}, {65536, 1}]),
    halt().

lines(Length, Bytes) ->
    Port = cat([binary, {line, Length}]),
    Line = [binary:copy(<<"x">>, Length), $\n],
    Count = Bytes div Length,
    Ahead = min(Count, max(1, 32768 div (Length + 1))),
    Micros = timed(fun() ->
                       send(Port, Line, Ahead),
                       pass(Port, Line, Count - Ahead),
                       take(Port, Ahead)
                   end),
    port_close(Port),
    io:format("portlines/~w ~w MB/s~n", [Length, Count * Length / Micros]).

send(_, _, 0) -> ok;
send(Port, Line, N) -> port_command(Port, Line), send(Port, Line, N - 1).

take(_, 0) -> ok;
take(Port, N) -> receive {Port, {data, {eol, _}}} -> take(Port, N - 1) end.

pass(_, _, 0) -> ok;
pass(Port, Line, N) ->
    receive {Port, {data, {eol, _}}} -> ok end,
    port_command(Port, Line),
    pass(Port, Line, N - 1).

%% Opens a port and closes it, one after the other.
open([Count]) ->
    [N] = numbers([Count]),
    opens(N div 10),
    Micros = timed(fun() -> opens(N) end),
    io:format("~w in ~w s~n", [N, Micros / 1000000]),
    halt().

opens(0) -> ok;
opens(N) -> port_close(cat([])), opens(N - 1).

%% Each process has its own port, and sends it so many lines, one after the
%% other. That a program begins is not in the time: each has answered one line
%% before.
many(Args) ->
    [N, Rounds] = numbers(Args),
    Self = self(),
    All = [spawn_link(?MODULE, echo, [Self, I, Rounds]) || I <- lists:seq(1, N)],
    [receive {ready, Pid} -> ok end || Pid <- All],
    Micros = timed(fun() ->
                       [Pid ! go || Pid <- All],
                       [receive {done, Pid} -> ok end || Pid <- All]
                   end),
    io:format("~w in ~w s~n", [N * Rounds, Micros / 1000000]),
    halt().

echo(Owner, I, Rounds) ->
    Port = cat([binary, {line, 128}]),
    turns(Port, <<"first">>, 1),
    Owner ! {ready, self()},
    receive go -> ok end,
    Line = integer_to_binary(I),
    turns(Port, Line, Rounds),
    Owner ! {done, self()},
    receive stop -> ok end.

turns(_, _, 0) -> ok;
turns(Port, Line, N) ->
    port_command(Port, [Line, $\n]),
    receive {Port, {data, {eol, Line}}} -> turns(Port, Line, N - 1) end.

cat(Options) ->
    open_port({spawn_executable, "/bin/cat"}, [in, out | Options]).

timed(Work) ->
    Start = erlang:monotonic_time(microsecond),
    Work(),
    max(1, erlang:monotonic_time(microsecond) - Start).

numbers(Args) ->
    [list_to_integer(atom_to_list(A)) || A <- Args].
