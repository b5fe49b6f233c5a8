%% Connecting, accepting and receiving datagrams against every way they end: several accepts with
%% limits of their own, acceptors that die, sockets handed over, refused and unanswered connections.
-module(socket_connect_accept).
-export([main/0]).

-define(IP, {127,0,0,1}).

main() ->
    several_accepts(),
    dead_acceptors(),
    accept_handed_over(),
    [connect_ends(End) || End <- [timeout, close, exit_signal, owner_dies, handed_over, refused]],
    [udp_ends(Kind, End) || {Kind, End} <- [{inet, timeout}, {local, timeout}, {inet, handed_over}]],
    udp_refused(),
    inherited(),
    statuses().

several_accepts() ->
    L = listener(),
    {ok, Port} = inet:port(L),
    Test = self(),
    As = [spawn(fun() -> Test ! {self(), kind(gen_tcp:accept(L, T))} , receive stop -> ok end end)
          || T <- [infinity, 100, 20000, 50]],
    [A1, A2, A3, A4] = As,
    p(several_timeouts, [receive {A, R} -> R end || A <- [A4, A2]]),
    {ok, C1} = gen_tcp:connect(?IP, Port, []),
    {ok, C2} = gen_tcp:connect(?IP, Port, []),
    p(several_accepted, [receive {A, R} -> R end || A <- [A1, A3]]),
    p(no_more, kind(gen_tcp:accept(L, 0))),
    [A ! stop || A <- As],
    [gen_tcp:close(S) || S <- [C1, C2, L]].

dead_acceptors() ->
    L = listener(),
    {ok, Port} = inet:port(L),
    As = [spawn(fun() -> gen_tcp:accept(L) end) || _ <- lists:seq(1, 3)],
    [waits(A) || A <- As],
    [begin M = monitor(process, A), exit(A, kill), receive {'DOWN', M, _, _, _} -> ok end end || A <- As],
    {ok, C} = gen_tcp:connect(?IP, Port, []),
    p(after_dead_acceptors, kind(gen_tcp:accept(L, 5000))),
    [gen_tcp:close(S) || S <- [C, L]].

accept_handed_over() ->
    L = listener(),
    {ok, Port} = inet:port(L),
    Test = self(),
    A = spawn(fun() -> Test ! {self(), kind(gen_tcp:accept(L))} end),
    waits(A),
    New = spawn(fun() -> receive stop -> ok end end),
    ok = gen_tcp:controlling_process(L, New),
    {ok, C} = gen_tcp:connect(?IP, Port, []),
    p(accept_handed_over, receive {A, R} -> R after 5000 -> hang end),
    New ! stop,
    gen_tcp:close(C).

%% A listening socket whose queue is full answers no connection.
connect_ends(refused) ->
    L = listener(),
    {ok, Port} = inet:port(L),
    gen_tcp:close(L),
    p({connect, refused}, kind(gen_tcp:connect(?IP, Port, []))),
    p({connect, refused_local}, kind(gen_tcp:connect({local, <<0, "kvik-diff-none">>}, 0, [local])));
connect_ends(End) ->
    {ok, L} = gen_tcp:listen(0, [{ip, ?IP}, {backlog, 0}]),
    {ok, Port} = inet:port(L),
    {ok, C0} = gen_tcp:connect(?IP, Port, []),
    Test = self(),
    Limit = case End of timeout -> 200; _ -> 20000 end,
    Owner = spawn(fun() ->
                          {ok, S} = prim_inet:open(tcp, inet, stream),
                          Test ! {self(), S},
                          receive {connect, W} -> true = erlang:port_connect(S, W) ; die -> ok end,
                          receive die -> ok end
                  end),
    S = receive {Owner, S0} -> S0 end,
    W = spawn(fun() ->
                      process_flag(trap_exit, true),
                      Test ! {self(), prim_inet:connect(S, ?IP, Port, Limit)},
                      receive stop -> ok end
              end),
    waits(W),
    case End of
        timeout -> ok;
        close -> inet:close(S);
        exit_signal -> exit(S, stop);
        owner_dies -> Owner ! die, Owner ! die;
        handed_over ->
            Owner ! {connect, W},
            await(fun() -> erlang:port_info(S, connected) =:= {connected, W} end),
            inet:close(S)
    end,
    R = receive {W, R0} -> R0 after 5000 -> hang end,
    p({connect, End}, {R, state(S)}),
    W ! stop,
    exit(Owner, kill),
    gen_tcp:close(C0),
    gen_tcp:close(L).

state(S) ->
    case prim_inet:getstatus(S) of
        {ok, Status} -> Status;
        Error -> Error
    end.

udp_ends(Kind, End) ->
    {ok, U} = gen_udp:open(0, [binary, {active,false} | address(Kind)]),
    Limit = case End of timeout -> 30; _ -> 20000 end,
    Test = self(),
    W = spawn(fun() -> Test ! {self(), gen_udp:recv(U, 0, Limit)} end),
    case End of
        timeout -> ok;
        handed_over ->
            waits(W),
            New = spawn(fun() -> receive stop -> ok end end),
            true = erlang:port_connect(U, New),
            {ok, Name} = inet:sockname(U),
            {ok, V} = gen_udp:open(0, address(Kind)),
            case Kind of
                local -> ok = gen_udp:send(V, Name, 0, "hello");
                inet -> ok = gen_udp:send(V, Name, "hello")
            end
    end,
    R = receive {W, R0} -> R0 after 5000 -> hang end,
    p({udp, Kind, End}, case R of {ok, {_, _, D}} -> {ok, D}; _ -> R end),
    gen_udp:close(U).

address(inet) -> [{ip, ?IP}];
address(local) ->
    N = integer_to_list(erlang:unique_integer([positive])),
    [{ifaddr, {local, iolist_to_binary([0, "kvik-diff-", os:getpid(), "-", N])}}].

udp_refused() ->
    {ok, V} = gen_udp:open(0, [{ip, ?IP}]),
    {ok, Port} = inet:port(V),
    gen_udp:close(V),
    {ok, U} = gen_udp:open(0, [{ip, ?IP}, {active,false}]),
    ok = gen_udp:connect(U, ?IP, Port),
    ok = gen_udp:send(U, "nobody"),
    p(udp_refused, gen_udp:recv(U, 0, 5000)),
    ok = gen_udp:send(U, "nobody"),
    ok = inet:setopts(U, [{active,true}]),
    p(udp_refused_active, receive {udp_error, U, R} -> R after 5000 -> hang end),
    gen_udp:close(U).

%% What an accepted socket has of the listening one.
inherited() ->
    Opts = [{active,once}, {packet,2}, {packet_size,50}, {header,1}, {exit_on_close,false}, {delay_send,true},
            {high_watermark,5000}, {low_watermark,3000}, {send_timeout,77}, {send_timeout_close,true},
            {show_econnreset,true}, {nodelay,true}, {keepalive,true}, {linger,{true,3}}, {priority,2},
            {high_msgq_watermark,9000}, {low_msgq_watermark,900}, {buffer,3333}, binary],
    {ok, L} = gen_tcp:listen(0, [{ip, ?IP} | Opts]),
    {ok, Port} = inet:port(L),
    {ok, C} = gen_tcp:connect(?IP, Port, []),
    {ok, A} = gen_tcp:accept(L),
    Names = [active, packet, packet_size, header, exit_on_close, delay_send, high_watermark, low_watermark,
             send_timeout, send_timeout_close, show_econnreset, nodelay, keepalive, linger, priority,
             buffer, mode, deliver, read_packets, tos, ipv6_v6only, netns],
    [p(inherited, [N | [inet:getopts(S, [N]) || S <- [L, A, C]]]) || N <- Names],
    [p(set, [O, inet:setopts(C, [O]), inet:getopts(C, [high_watermark, low_watermark])])
     || O <- [{high_watermark, 100}, {low_watermark, 500}, {high_watermark, -1}, {buffer, 0}, {high_msgq_watermark, 0},
              {low_msgq_watermark, -1}, {read_packets, 0}, {active, 32767}, {active, 1}, {active, -32769}, {active, false}]],
    {ok, U} = gen_udp:open(0, [{ip, ?IP}]),
    [p(udp, [N, inet:getopts(U, [N])]) || N <- [active, buffer, read_packets, high_watermark, delay_send, show_econnreset, mode]],
    [p(udp, [N, inet:setopts(U, [{recbuf, N}]), inet:getopts(U, [buffer])]) || N <- [5000, 20000, 100000]],
    p(udp, [inet:setopts(U, [{read_packets, 0}]), inet:setopts(U, [{read_packets, 7}]), inet:getopts(U, [read_packets])]),
    [gen_tcp:close(S) || S <- [A, C, L]],
    gen_udp:close(U).

statuses() ->
    {ok, S} = prim_inet:open(tcp, inet, stream),
    p(status, [prim_inet:getstatus(S), inet:peername(S), prim_inet:connect(S, ?IP, 0), prim_inet:recv(S, 0),
               prim_inet:send(S, "x"), prim_inet:shutdown(S, write), prim_inet:accept(S)]),
    L = listener(),
    As = [spawn(fun() -> gen_tcp:accept(L) end) || _ <- [1, 2]],
    p(status, prim_inet:getstatus(L) =:= {ok, [listen, open]} orelse lists:member(accepting, element(2, prim_inet:getstatus(L)))),
    [waits(A) || A <- As],
    p(status, prim_inet:getstatus(L)),
    [begin M = monitor(process, A), exit(A, kill), receive {'DOWN', M, _, _, _} -> ok end end || A <- As],
    await(fun() -> prim_inet:getstatus(L) =:= {ok, [listen, open]} end),
    p(fake, [prim_inet:setsockname(L, {{1,2,3,4}, 5}), inet:sockname(L), prim_inet:setsockname(L, undefined)]),
    gen_tcp:close(S),
    gen_tcp:close(L).

listener() ->
    {ok, L} = gen_tcp:listen(0, [{ip, ?IP}, {active,false}]),
    L.

kind({ok, S}) when is_port(S) -> {ok, socket};
kind(R) -> R.

waits(Pid) ->
    await(fun() ->
                  case process_info(Pid, [status, current_function]) of
                      [{status, waiting}, {current_function, {prim_inet, _, _}}] -> true;
                      _ -> false
                  end
          end).

await(F) ->
    case F() of
        true -> ok;
        false -> erlang:yield(), await(F)
    end.

p(What, Term) -> io:format("~0p: ~0p~n", [What, Term]).
