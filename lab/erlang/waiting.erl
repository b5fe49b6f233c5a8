%% Bytes of memory for each process that only waits: what the operating system
%% says the machine holds, before and after spawning N of them.
-module(waiting).
-export([start/1, wait/0]).

start([N]) ->
    Count = list_to_integer(atom_to_list(N)),
    spawn_many(1000),
    Before = resident(),
    spawn_many(Count),
    receive after 200 -> ok end,
    io:format("waiting ~w bytes ~w processes~n", [(resident() - Before) / Count, Count]),
    halt().

spawn_many(0) -> ok;
spawn_many(N) -> spawn(?MODULE, wait, []), spawn_many(N - 1).

wait() ->
    receive stop -> ok end.

resident() ->
    {ok, Status} = file:read_file("/proc/" ++ os:getpid() ++ "/status"),
    {match, [KB]} = re:run(Status, "VmRSS:\\s*([0-9]+)", [{capture, all_but_first, list}]),
    list_to_integer(KB) * 1024.
