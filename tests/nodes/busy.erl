%% A node that does not read: who sends it much is suspended, with little in the way, and goes on
%% when it reads again.
-module(busy).
-export([main/0, sink/1]).

-define(PIECES, 600).
-define(PIECE, 100000).

main() ->
    N = two:other(),
    process_flag(trap_exit, true),
    Me = self(),
    Sink = spawn_link(N, ?MODULE, sink, [Me]),
    Os = rpc:call(N, os, getpid, []),
    erlang:system_monitor(self(), [busy_dist_port]),
    Binary = binary:copy(<<1>>, ?PIECE),
    Before = erlang:memory(binary),
    [] = os:cmd("kill -STOP " ++ Os),
    Sender = spawn(fun() ->
        [Sink ! {self(), Binary, I} || I <- lists:seq(1, ?PIECES)],
        Me ! sent
    end),
    two:p(suspended, fun() -> status(Sender, suspended, 500) end),
    two:p(heard, fun() ->
        receive {monitor, Sender, busy_dist_port, P} -> is_port(P) after 5000 -> nothing end
    end),
    two:p(nosuspend, fun() -> refused(Sink, 500) end),
    two:p(a_link_waits, fun() -> link_waits(Sink, Me, 500) end),
    two:p(little_memory, fun() -> erlang:memory(binary) - Before < 20000000 end),
    two:p(not_sent, fun() -> receive sent -> sent after 0 -> waits end end),
    [] = os:cmd("kill -CONT " ++ Os),
    two:p(linked, fun() -> receive linked -> ok after 20000 -> nothing end end),
    two:p(sent, fun() -> receive sent -> ok after 20000 -> nothing end end),
    two:p(all, fun() -> receive {all, L} -> L =:= lists:seq(1, ?PIECES) after 20000 -> nothing end end),
    two:p(again, fun() -> rpc:call(N, erlang, abs, [-1]) end).

%% The socket's buffers may still take all that waits: then the connection is free for a moment.
refused(Sink, Tries) ->
    case erlang:send(Sink, {self(), none, free}, [nosuspend]) of
        ok when Tries > 0 -> timer:sleep(10), refused(Sink, Tries - 1);
        X -> X
    end.
link_waits(Sink, Me, Tries) ->
    Linker = spawn(fun() -> link(Sink), linked(Me, 10) end),
    case status(Linker, suspended, 50) of
        suspended -> suspended;
        _ when Tries > 0 -> link_waits(Sink, Me, Tries - 1);
        X -> X
    end.

%% Who is suspended still gets to his next call or two.
linked(To, 0) -> To ! linked;
linked(To, N) -> linked(To, N - 1).

status(P, S, Tries) ->
    case process_info(P, status) of
        {status, S} -> S;
        _ when Tries > 0 -> timer:sleep(10), status(P, S, Tries - 1);
        X -> X
    end.

sink(To) -> sink(To, []).
sink(To, All) ->
    receive
        {_, B, ?PIECES} when byte_size(B) =:= ?PIECE -> To ! {all, lists:reverse([?PIECES | All])};
        {_, none, free} -> sink(To, All);
        {_, B, I} when byte_size(B) =:= ?PIECE -> sink(To, [I | All])
    end.
