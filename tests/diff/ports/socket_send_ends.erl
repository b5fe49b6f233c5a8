%% A send that waits on a full connection, and a file on its way out, against every way they end.
-module(socket_send_ends).
-export([main/0]).

main() ->
    [row(Op, End, Opts)
     || Op <- [send, sendfile], End <- [peer_close, peer_reset, timeout, peer_reads, shutdown_write],
        Opts <- [[{active,false}], [{active,true}], [{active,false}, {exit_on_close,false}],
                 [{active,false}, {show_econnreset,true}], [{active,true}, {show_econnreset,true}],
                 [{active,false}, {send_timeout_close,true}]],
        {Op, End} =/= {sendfile, timeout}, {Op, End} =/= {sendfile, shutdown_write}],
    [row(Op, End, [{active,false}])
     || {Op, End} <- [{send, port_close}, {send, exit_stop}, {sendfile, port_close}, {sendfile, exit_stop}]].

row(Op, End, Opts) ->
    {S, Peer} = pair(Opts),
    Test = self(),
    Sender = spawn(fun() ->
                           process_flag(trap_exit, true),
                           receive go -> ok end,
                           Test ! {self(), op(Op, S)},
                           receive go -> ok end,
                           Test ! {self(), {gen_tcp:send(S, "more"), gen_tcp:send(S, "more"), recv(S)}},
                           receive go -> ok end,
                           Test ! {self(), flush(S)}
                   end),
    ok = gen_tcp:controlling_process(S, Sender),
    End =:= timeout andalso inet:setopts(S, [{send_timeout, 100}]),
    Sender ! go,
    End =:= timeout orelse full(S, Sender),
    finish(End, S, Peer),
    First = receive {Sender, R} -> R after 9000 -> hang end,
    Sender ! go,
    Then = receive {Sender, R2} -> R2 after 5000 -> hang end,
    Sender ! go,
    Rest = receive {Sender, R3} -> R3 after 5000 -> hang end,
    io:format("~p ~p ~w: ~0p ~0p ~0p~n", [Op, End, Opts, First, then(End, Then), Rest]),
    exit(Sender, kill),
    gen_tcp:close(Peer).

%% Where nothing has ended, what a send says next depends on the system's buffers.
then(timeout, {_, _, R}) -> R;
%% A port that writes out its queue still answers for its options in OTP.
then(End, {R1, R2, _}) when End =:= port_close; End =:= exit_stop -> {R1, R2};
then(_, T) -> T.

pair(Opts) ->
    Small = [{sndbuf, 8192}, {recbuf, 8192}, binary],
    {ok, L} = gen_tcp:listen(0, [{ip, {127,0,0,1}}, {active,false} | Small]),
    {ok, Port} = inet:port(L),
    {ok, C} = gen_tcp:connect({127,0,0,1}, Port, Small ++ Opts),
    {ok, A} = gen_tcp:accept(L),
    gen_tcp:close(L),
    {C, A}.

op(send, S) -> send_until_it_ends(S);
op(sendfile, S) ->
    Name = filename:join("/tmp", "kvik-diff-sendfile-" ++ os:getpid()),
    {ok, F} = file:open(Name, [write, read, raw, binary]),
    {ok, _} = file:position(F, 20000000),
    ok = file:truncate(F),
    ok = file:delete(Name),
    R = file:sendfile(F, S, 0, 0, []),
    file:close(F),
    R.

send_until_it_ends(S) -> send_until_it_ends(S, 400).
send_until_it_ends(_, 0) -> ok;
send_until_it_ends(S, N) ->
    case gen_tcp:send(S, <<0:(50000*8)>>) of
        ok -> send_until_it_ends(S, N - 1);
        R -> R
    end.

full(S, Sender) ->
    case process_info(Sender, [status, current_function]) of
        [{status, waiting}, {current_function, {prim_inet, _, _}}] -> ok;
        [{status, suspended} | _] -> ok;
        _ -> erlang:yield(), full(S, Sender)
    end.

finish(peer_close, _, Peer) -> gen_tcp:close(Peer);
finish(peer_reset, _, Peer) ->
    ok = inet:setopts(Peer, [{linger, {true, 0}}]),
    gen_tcp:close(Peer);
finish(port_close, S, _) -> port_close(S);
finish(exit_stop, S, _) -> exit(S, stop);
finish(timeout, _, _) -> ok;
finish(shutdown_write, S, Peer) ->
    ok = gen_tcp:shutdown(S, write),
    drain(Peer);
finish(peer_reads, _, Peer) -> drain(Peer).

drain(Peer) ->
    spawn_link(fun() -> drain_loop(Peer) end),
    ok.
drain_loop(Peer) ->
    case gen_tcp:recv(Peer, 0) of
        {ok, _} -> drain_loop(Peer);
        _ -> ok
    end.

recv(S) ->
    case inet:getopts(S, [active]) of
        {ok, [{active, false}]} -> gen_tcp:recv(S, 0, 0);
        R -> R
    end.

flush(S) ->
    receive
        {'EXIT', S, R} -> [{exit, R} | flush(S)];
        {tcp_error, S, R} -> [{tcp_error, R} | flush(S)];
        {tcp_closed, S} -> [tcp_closed | flush(S)];
        M -> [M | flush(S)]
    after 0 -> []
    end.
