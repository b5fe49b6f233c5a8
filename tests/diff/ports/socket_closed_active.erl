%% What the owner of a socket gets when the peer closes: {tcp_closed,S} once, also where the socket
%% was closed while it was passive, and no exit signal from the port.
-module(socket_closed_active).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    {ok, L} = gen_tcp:listen(0, [binary, {active,false}, {ip,{127,0,0,1}}]),
    {ok, Port} = inet:port(L),
    [row(L, Port, Side, How, Active, Exit)
     || Side <- [accepted, connected], How <- [late, early, data, recv, half], Active <- [once, true, 1],
        Exit <- [true, false]].

row(L, Port, Side, How, Active, Exit) ->
    {ok, C} = gen_tcp:connect({127,0,0,1}, Port, [binary, {active,false}]),
    {ok, A} = gen_tcp:accept(L),
    {S, Peer} = case Side of accepted -> {A, C}; connected -> {C, A} end,
    ok = inet:setopts(S, [{exit_on_close, Exit}]),
    Watch = erlang:monitor(port, S),
    run(How, S, Peer, Active),
    Got = collect(S, Watch, Exit),
    io:format("~p ~p ~p ~p: ~p~n", [Side, How, Active, Exit, Got]),
    io:format("  ~p~n", [{gen_tcp:recv(S, 0), gen_tcp:send(S, "x"), inet:setopts(S, [{active,Active}])}]),
    io:format("  ~p~n", [flush(S, Watch)]),
    gen_tcp:close(S),
    gen_tcp:close(Peer),
    erlang:demonitor(Watch, [flush]).

run(late, S, Peer, Active) ->
    ok = inet:setopts(S, [{active,Active}]),
    gen_tcp:close(Peer);
run(early, S, Peer, Active) ->
    gen_tcp:close(Peer),
    closed_in_kernel(S),
    ok = inet:setopts(S, [{active,Active}]);
run(data, S, Peer, Active) ->
    gen_tcp:send(Peer, "abc"),
    gen_tcp:close(Peer),
    closed_in_kernel(S),
    ok = inet:setopts(S, [{active,Active}]),
    case Active of
        true -> ok;
        _ -> receive {tcp, S, Data} -> io:format("~p ", [Data]) end,
             ok = inet:setopts(S, [{active,Active}])
    end;
run(recv, S, Peer, Active) ->
    gen_tcp:close(Peer),
    io:format("~p ", [gen_tcp:recv(S, 0)]),
    ok = inet:setopts(S, [{active,Active}]);
run(half, S, Peer, Active) ->
    ok = gen_tcp:shutdown(Peer, write),
    io:format("~p ", [gen_tcp:recv(S, 0)]),
    ok = inet:setopts(S, [{active,Active}]).

%% TCP_INFO begins with the state, and is CLOSE_WAIT (8) once the peer's end has come.
closed_in_kernel(S) ->
    case inet:getopts(S, [{raw, 6, 11, 1}]) of
        {ok, [{raw, 6, 11, <<8>>}]} -> ok;
        {ok, _} -> erlang:yield(), closed_in_kernel(S)
    end.

collect(S, Watch, Exit) ->
    receive
        {tcp_closed, S} when not Exit -> [closed];
        {'DOWN', Watch, port, _, R} -> [{down, R}];
        {'EXIT', S, R} -> [{exit, R} | collect(S, Watch, Exit)];
        M when element(2, M) =:= S -> [element(1, M) | collect(S, Watch, Exit)]
    after 5000 -> [nothing]
    end.

flush(S, Watch) ->
    receive
        {'DOWN', Watch, port, _, R} -> [{down, R} | flush(S, Watch)];
        M when element(2, M) =:= S -> [setelement(2, M, s) | flush(S, Watch)]
    after 0 -> []
    end.
