%% A connection over TLS, where each side checks the other's certificate: small and large messages, their
%% order, senders that wait, links and monitors, and a connection that is ended and made again.
%% certificate
%% flags: -proto_dist inet_tls -ssl_dist_optfile BUILD/tls.optfile
-module(tls).
-export([main/0, echo/0]).

main() ->
    N = two:other(),
    two:p(carried_by, fun() -> is_pid(element(3, carrier(N))) end),
    P = spawn(N, ?MODULE, echo, []),
    Terms = [hello, lists:seq(1, 20000), binary:copy(<<"abc">>, 5000000), lists:seq(1, 500000), self(), make_ref()],
    two:p(terms, fun() -> [echoed(P, T) =:= T || T <- Terms] end),
    two:p(rpc, fun() -> {rpc:call(N, erlang, node, []) =:= N, erpc:call(N, fun() -> 1 + 1 end)} end),
    two:p(order, fun() -> order(P, lists:seq(1, 20000)) end),
    two:p(busy, fun() -> busy(P) end),
    two:p(global, fun() -> {global:register_name(?MODULE, self()), rpc:call(N, global, whereis_name, [?MODULE]) =:= self()} end),
    two:p(watched, fun() -> watched(N) end),
    two:p(again, fun() -> {net_adm:ping(N), lists:member(N, nodes()), is_pid(element(3, carrier(N)))} end),
    two:p(ended, fun() -> ended(N) end).

%% How net_kernel holds the connection: {connection | tick, Node, Pid or Port}.
carrier(N) ->
    {N, Owner} = lists:keyfind(N, 1, erlang:system_info(dist_ctrl)),
    {connection, N, Owner}.

echo() ->
    receive {From, T} -> From ! {self(), T}, echo() end.
echoed(P, T) ->
    P ! {self(), T},
    from(P).
from(P) ->
    receive {P, T} -> T after 30000 -> nothing end.

order(P, Numbers) ->
    [P ! {self(), I} || I <- Numbers],
    [from(P) || _ <- Numbers] =:= Numbers.

%% More than may wait at once: senders are suspended and go on.
busy(P) ->
    B = binary:copy(<<7>>, 300000),
    Ps = [spawn_monitor(fun() -> [P ! {self(), B} || _ <- lists:seq(1, 10)], exit([from(P) =:= B || _ <- lists:seq(1, 10)]) end)
          || _ <- lists:seq(1, 10)],
    [receive {'DOWN', R, process, Pid, Reason} -> lists:usort(Reason) after 30000 -> nothing end || {Pid, R} <- Ps].

%% Who watches the node and its processes hears when the connection ends.
watched(N) ->
    process_flag(trap_exit, true),
    ok = net_kernel:monitor_nodes(true, [nodedown_reason]),
    true = monitor_node(N, true),
    P = spawn(N, ?MODULE, echo, []),
    L = spawn_link(N, ?MODULE, echo, []),
    R = monitor(process, P),
    hello = echoed(P, hello),
    hello = echoed(L, hello),
    true = erlang:disconnect_node(N),
    [receive {'DOWN', R, process, P, Why} -> Why after 10000 -> nothing end,
     receive {'EXIT', L, Why} -> Why after 10000 -> nothing end,
     receive {nodedown, N} -> nodedown after 10000 -> nothing end,
     receive {nodedown, N, [{nodedown_reason, Why}]} -> Why after 10000 -> nothing end].

%% The other node halts.
ended(N) ->
    receive {nodeup, N, _} -> ok after 10000 -> nothing end,
    R = monitor(process, {net_kernel, N}),
    rpc:cast(N, erlang, halt, []),
    [receive {'DOWN', R, process, _, Why} -> Why after 10000 -> nothing end,
     receive {nodedown, N, [{nodedown_reason, Why}]} -> Why after 10000 -> nothing end].
