%% A receive that waits, plain, by length or in a packet mode with part of a packet there, and an
%% active socket, against what the peer and other processes do.
-module(socket_receive_ends).
-export([main/0]).

main() ->
    [row(Mode, End, Opts)
     || Mode <- [raw, length, packet, line, http, active, once, count],
        End <- [peer_close, peer_reset, peer_half, timeout, shutdown, invalid, close, port_close,
                exit_normal, exit_stop, exit_kill, waiter_dies, handed_over, data_then_close],
        Opts <- [[], [{exit_on_close,false}], [{show_econnreset,true}]],
        applies(Mode, End)].

applies(Mode, invalid) -> lists:member(Mode, [packet, line]);
applies(Mode, timeout) -> not active(Mode);
applies(Mode, waiter_dies) -> not active(Mode);
applies(_, _) -> true.

active(Mode) -> lists:member(Mode, [active, once, count]).

row(Mode, End, Opts) ->
    {S, Peer} = pair(Opts ++ opts(Mode)),
    ok = gen_tcp:send(Peer, part(Mode, End)),
    Test = self(),
    Limit = case End of timeout -> 50; _ -> 20000 end,
    Owner = spawn(fun() -> owner(Test, S) end),
    ok = gen_tcp:controlling_process(S, Owner),
    Waiter = case End of
                 waiter_dies -> spawn(fun() -> owner(Test, S) end);
                 _ -> Owner
             end,
    Watch = erlang:monitor(port, S),
    Waiter ! {run, fun() -> recv(Mode, S, Limit) end},
    Set = active(Mode) andalso result(Waiter),
    active(Mode) orelse waits(Waiter),
    finish(End, S, Peer, Owner, Waiter, Mode),
    R = case End of
            waiter_dies -> died;
            _ when Set =/= false -> Set;
            _ -> result(Waiter)
        end,
    active(Mode) andalso End =/= shutdown andalso End =/= handed_over andalso settle(Owner, S),
    Next = [call(Owner, F) || F <- [fun() -> recv_again(Mode, S) end,
                                    fun() -> gen_tcp:send(S, "x") end,
                                    fun() -> mode(S) end]],
    Messages = call(Owner, fun() -> flush(S) end),
    Down = receive {'DOWN', Watch, port, _, Reason} -> Reason after 0 -> open end,
    io:format("~p ~p ~0p: ~0p ~0p ~0p ~0p~n", [Mode, End, Opts, R, Next, Messages, Down]),
    exit(Owner, kill),
    gen_tcp:close(Peer),
    erlang:demonitor(Watch, [flush]).

opts(packet) -> [{packet, 4}, {packet_size, 100}];
opts(line) -> [{packet, line}, {packet_size, 100}, {buffer, 100}];
opts(http) -> [{packet, http_bin}];
opts(_) -> [].

part(_, data_then_close) -> <<>>;
part(length, _) -> <<"abc">>;
part(packet, _) -> <<0, 0, 0, 9, "abc">>;
part(line, _) -> <<"no end">>;
part(http, _) -> <<"GET / HT">>;
part(_, _) -> <<>>.

whole(packet) -> <<0, 0, 0, 3, "abc">>;
whole(line) -> <<"abc\n">>;
whole(http) -> <<"GET / HTTP/1.1\r\n">>;
whole(length) -> <<"0123456789">>;
whole(_) -> <<"abc">>.

pair(Opts) ->
    {ok, L} = gen_tcp:listen(0, [{ip, {127,0,0,1}}, {active,false}, binary]),
    {ok, Port} = inet:port(L),
    {ok, C} = gen_tcp:connect({127,0,0,1}, Port, [binary, {active,false} | Opts]),
    {ok, A} = gen_tcp:accept(L),
    gen_tcp:close(L),
    {C, A}.

owner(Test, S) ->
    process_flag(trap_exit, true),
    owner_loop(Test, S).
owner_loop(Test, S) ->
    receive
        {run, F} -> Test ! {self(), result, F()}, owner_loop(Test, S);
        die -> ok
    end.
result(Pid) -> receive {Pid, result, R} -> R after 10000 -> hang end.
call(Pid, F) ->
    Pid ! {run, F},
    result(Pid).

recv(length, S, Limit) -> gen_tcp:recv(S, 10, Limit);
recv(active, S, _) -> inet:setopts(S, [{active, true}]);
recv(once, S, _) -> inet:setopts(S, [{active, once}]);
recv(count, S, _) -> inet:setopts(S, [{active, 3}]);
recv(_, S, Limit) -> gen_tcp:recv(S, 0, Limit).

recv_again(Mode, S) ->
    case active(Mode) of
        true -> gen_tcp:recv(S, 0, 0);
        false -> recv(Mode, S, 0)
    end.

mode(S) -> inet:getopts(S, [active]).

waits(Pid) ->
    case process_info(Pid, [status, current_function]) of
        [{status, waiting}, {current_function, {prim_inet, _, _}}] -> ok;
        _ -> erlang:yield(), waits(Pid)
    end.

%% Until the socket has told something, or will not.
settle(Owner, S) ->
    {messages, Ms} = process_info(Owner, messages),
    case Ms =/= [] orelse erlang:port_info(S) =:= undefined of
        true ->
            settled(Owner, lists:any(fun(M) -> element(1, M) =:= tcp end, Ms), S);
        false -> erlang:yield(), settle(Owner, S)
    end.
%% Data comes first; active and count then hear of the end.
settled(Owner, true, S) ->
    case inet:getopts(S, [active]) of
        {ok, [{active, false}]} -> ok;
        _ -> closes(Owner, S)
    end;
settled(_, false, _) -> ok.
closes(Owner, S) ->
    {messages, Ms} = process_info(Owner, messages),
    case lists:any(fun(M) -> element(1, M) =:= tcp_closed end, Ms) of
        true -> ok;
        false -> erlang:yield(), closes(Owner, S)
    end.

finish(peer_close, _, Peer, _, _, _) -> gen_tcp:close(Peer);
finish(peer_reset, _, Peer, _, _, _) ->
    ok = inet:setopts(Peer, [{linger, {true, 0}}]),
    gen_tcp:close(Peer);
finish(peer_half, _, Peer, _, _, _) -> ok = gen_tcp:shutdown(Peer, write);
finish(timeout, _, _, _, _, _) -> ok;
finish(shutdown, S, Peer, _, _, Mode) ->
    ok = gen_tcp:shutdown(S, write),
    active(Mode) orelse gen_tcp:send(Peer, rest(Mode));
finish(invalid, _, Peer, _, _, line) -> ok = gen_tcp:send(Peer, lists:duplicate(200, $x));
finish(invalid, _, Peer, _, _, packet) ->
    ok = gen_tcp:send(Peer, <<"defghi", 0, 0, 1, 0, "x">>);
finish(close, S, _, _, _, _) -> join(fun() -> inet:close(S) end);
finish(port_close, S, _, _, _, _) -> port_close(S);
finish(exit_normal, S, _, _, _, _) ->
    exit(S, normal);
finish(exit_stop, S, _, _, _, _) -> exit(S, stop);
finish(exit_kill, S, _, _, _, _) -> exit(S, kill);
finish(waiter_dies, _, _, _, Waiter, _) ->
    M = monitor(process, Waiter),
    exit(Waiter, kill),
    receive {'DOWN', M, _, _, _} -> ok end;
finish(handed_over, S, Peer, Owner, _, Mode) ->
    %% controlling_process is for the owner; the port is given on below it.
    true = erlang:port_connect(S, self()),
    unlink(S),
    active(Mode) orelse gen_tcp:send(Peer, rest(Mode)),
    Owner;
finish(data_then_close, _, Peer, _, _, Mode) ->
    ok = gen_tcp:send(Peer, whole(Mode)),
    gen_tcp:close(Peer).

rest(length) -> "defghij";
rest(packet) -> "defghi";
rest(line) -> "\n";
rest(http) -> "TP/1.1\r\n";
rest(_) -> "data".

join(F) ->
    {P, M} = spawn_monitor(F),
    receive {'DOWN', M, process, P, _} -> ok end.

flush(S) ->
    receive
        {run, _} = R -> self() ! R, [];
        M when element(2, M) =:= S -> [setelement(2, M, s) | flush(S)];
        {inet_async, S, _, R} -> [{async, R} | flush(S)]
    after 0 -> []
    end.
