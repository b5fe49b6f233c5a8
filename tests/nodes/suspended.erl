%% A node whose process the system has suspended: when and why it is taken for down, who waits for it and
%% who is told so, and what watchers with each option hear; then connections that both sides make at once.
%% flags: -kernel net_ticktime 4
-module(suspended).
-export([main/0, echo/0, calls/2]).

-define(OPTIONS,
        [[], [nodedown_reason], [{node_type, all}], [{node_type, hidden}, nodedown_reason],
         [{node_type, visible}, nodedown_reason], #{}, #{connection_id => true}, #{nodedown_reason => true, node_type => all},
         #{node_type => hidden, connection_id => true, nodedown_reason => true}]).

main() ->
    N = two:other(),
    OsPid = rpc:call(N, os, getpid, []),
    P = spawn(N, ?MODULE, echo, []),
    two:p(options, fun() -> [net_kernel:monitor_nodes(true, O) || O <- ?OPTIONS ++ [[], [oops], #{oops => true}, oops, [{node_type, oops}]]] end),
    erlang:system_monitor(self(), [busy_dist_port]),
    "" = os:cmd("kill -STOP " ++ OsPid),
    Begin = erlang:monotonic_time(millisecond),
    Senders = [spawn_monitor(fun() -> flood(P) end) || _ <- lists:seq(1, 3)],
    two:p(busy, fun() -> busy(P, Senders) end),
    receive {nodedown, N} -> ok end,
    Took = erlang:monotonic_time(millisecond) - Begin,
    two:p(took, fun() -> if Took >= 2500, Took =< 8000 -> in_time; true -> Took end end),
    two:p(heard, fun() -> heard() end),
    "" = os:cmd("kill -CONT " ++ OsPid),
    two:p(ended, fun() -> [receive {'DOWN', R, process, Q, Why} -> Why after 20000 -> nothing end || {Q, R} <- Senders] end),
    N = two:other(),
    heard(),
    N = two:other(),
    heard(),
    two:p(disconnected, fun() -> erlang:disconnect_node(N) end),
    two:p(heard, fun() -> heard() end),
    N = two:other(),
    [net_kernel:monitor_nodes(false, O) || O <- ?OPTIONS ++ [[]]],
    heard(),
    two:p(races, fun() -> lists:usort([race(N) || _ <- lists:seq(1, 20)]) end),
    halt_other(N).

flood(P) ->
    B = binary:copy(<<7>>, 2000000),
    [P ! B || _ <- lists:seq(1, 20)],
    exit(sent).

%% Senders wait, and who asks not to wait is told.
busy(P, Senders) ->
    Told = receive {monitor, Pid, busy_dist_port, _} -> lists:keymember(Pid, 1, Senders) after 3000 -> nothing end,
    erlang:system_monitor(undefined),
    timer:sleep(500),
    await_busy(P, 300),
    {Told, [erlang:send(P, hello, [nosuspend]), erlang:send(P, hello, [noconnect, nosuspend]),
            erlang:send_nosuspend(P, hello), erlang:send_nosuspend(P, hello, [noconnect]),
            erlang:send({name, node(P)}, hello, [nosuspend])]}.

%% A sender that was woken may be on its way to fill the link again.
await_busy(P, N) when N > 0 ->
    case erlang:send(P, hello, [nosuspend]) of
        nosuspend -> ok;
        ok -> timer:sleep(10), await_busy(P, N - 1)
    end;
await_busy(_, 0) -> ok.

%% What watchers heard, in the order of their text; a connection's number is not said.
heard() ->
    lists:sort(heard([])).
heard(All) ->
    receive
        {monitor, _, busy_dist_port, _} -> heard(All);
        M when element(1, M) =:= nodeup; element(1, M) =:= nodedown -> heard([shown(M) | All])
    after 500 -> All
    end.
shown({E, N, I}) when is_map(I) -> {E, N, maps:map(fun(connection_id, C) -> is_integer(C); (_, V) -> V end, I)};
shown(M) -> M.

echo() ->
    receive {From, T} -> From ! {self(), T}; _ -> ok end,
    echo().

%% Both sides connect at the same time, from many processes: every call is answered.
race(N) ->
    Other = rpc:call(N, erlang, whereis, [rex]),
    true = is_pid(Other),
    Me = node(),
    Count = 20,
    rpc:cast(N, ?MODULE, calls, [Me, Count]),
    timer:sleep(20),
    erlang:disconnect_node(N),
    {Mine, _} = lists:unzip([spawn_monitor(fun() -> exit(calls(N, 1)) end) || _ <- lists:seq(1, Count)]),
    Answers = [receive {'DOWN', _, process, P, A} -> A after 20000 -> nothing end || P <- Mine],
    case [A || A <- Answers, A =/= [true], A =/= [noconnection]] of
        [] -> answered;
        Others -> Others
    end.
calls(N, Count) ->
    [try erpc:call(N, erlang, node, [], 15000) =:= N catch error:{erpc, Why} -> Why end || _ <- lists:seq(1, Count)].

halt_other(N) ->
    two:p(last, fun() -> {net_adm:ping(N), rpc:call(N, erlang, abs, [-1])} end).
