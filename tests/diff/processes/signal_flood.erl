%% More signals at once than a process handles in one turn: nothing that has come is overlooked, all is in
%% order, and who is behind the end of the process hears of it.
-module(signal_flood).
-export([main/0]).

-define(N, 30000).

main() ->
    process_flag(priority, max),
    looks(),
    waits(),
    ends().

%% One that is busy meanwhile, then looks without waiting.
looks() ->
    {Pid, Flag} = busy(fun () ->
        Last = receive last -> found after 0 -> missed end,
        {message_queue_len, Len} = process_info(self(), message_queue_len),
        {monitored_by, By} = process_info(self(), monitored_by),
        {Last, Len, length(By), in_order(messages())}
    end),
    _ = flood(Pid),
    Pid ! last,
    go(Pid, Flag).

%% One that waits for the last message, and has a time for it.
waits() ->
    {Pid, Flag} = busy(fun () ->
        R = receive last -> found after 60000 -> missed end,
        {R, in_order(messages())}
    end),
    Refs = flood(Pid),
    [demonitor(Ref) || Ref <- Refs],
    Pid ! last,
    go(Pid, Flag).

%% One that is killed in the middle.
ends() ->
    {Pid, Flag} = busy(fun () -> receive never -> ok end end),
    Before = flood(Pid),
    exit(Pid, kill),
    Behind = flood(Pid),
    atomics:put(Flag, 1, 1),
    %% Whoever monitors a process that is ending is told in no order that could be relied on.
    Told = maps:from_list([receive {'DOWN', Ref, process, Pid, W} -> {Ref, W} end || _ <- Before ++ Behind]),
    Why = fun (Refs) -> lists:usort([maps:get(Ref, Told) || Ref <- Refs]) end,
    io:format("~p~n", [{Why(Before), Why(Behind), is_process_alive(Pid), process_info(Pid, links)}]).

%% Runs a fun when a flag is set, and has nothing to do with messages before.
busy(F) ->
    Self = self(),
    Flag = atomics:new(1, []),
    {spawn(fun () -> spin(Flag), Self ! {self(), F()} end), Flag}.

spin(Flag) ->
    case atomics:get(Flag, 1) of
        0 -> spin(Flag);
        1 -> ok
    end.

go(Pid, Flag) ->
    atomics:put(Flag, 1, 1),
    receive {Pid, Said} -> io:format("~p~n", [Said]) end,
    flush().

%% Signals, with a message after each thousand.
flood(Pid) ->
    [begin
         I rem 1000 =:= 0 andalso (Pid ! I),
         monitor(process, Pid)
     end || I <- lists:seq(1, ?N)].

messages() -> receive I -> [I | messages()] after 0 -> [] end.
in_order(L) -> {length(L), L =:= lists:sort(L)}.
flush() -> receive _ -> flush() after 0 -> ok end.
