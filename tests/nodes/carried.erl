%% A connection that a process carries, not a port: what goes over it, and the functions that only such
%% a process may call.
%% flags: -proto_dist carrier
-module(carried).
-export([main/0, echo/0]).

main() ->
    N = two:other(),
    P = spawn(N, ?MODULE, echo, []),
    Terms = [hello, lists:seq(1, 20000), binary:copy(<<"abc">>, 1000000), self(), make_ref()],
    two:p(terms, fun() -> [begin P ! {self(), T}, from(P) =:= T end || T <- Terms] end),
    two:p(rpc, fun() -> {rpc:call(N, erlang, node, []) =:= N, erpc:call(N, fun() -> 1 + 1 end)} end),
    two:p(order, fun() ->
        [P ! {self(), I} || I <- lists:seq(1, 20000)],
        [from(P) || _ <- lists:seq(1, 20000)] =:= lists:seq(1, 20000)
    end),
    %% More than may wait at once: senders are suspended and go on.
    B = binary:copy(<<7>>, 300000),
    two:p(busy, fun() ->
        Ps = [spawn_monitor(fun() -> [P ! {self(), B} || _ <- lists:seq(1, 10)],
                                     [B = from(P) || _ <- lists:seq(1, 10)], ok end)
              || _ <- lists:seq(1, 5)],
        [receive {'DOWN', R, _, _, Why} -> Why end || {_, R} <- Ps]
    end),
    process_flag(trap_exit, true),
    link(P),
    R = monitor(process, P),
    P ! {die, there},
    two:p(link, fun() -> receive {'EXIT', P, W} -> W after 5000 -> nothing end end),
    two:p(monitor, fun() -> receive {'DOWN', R, process, P, W} -> W after 5000 -> nothing end end),
    inside(),
    outside(),
    lost(N).

echo() ->
    receive
        {die, R} -> exit(R);
        {F, X} -> F ! {self(), X}, echo()
    end.
from(P) -> receive {P, X} -> X after 5000 -> nothing end.

%% By who carries the connection.
inside() ->
    do(stat, fun(H) -> {ok, In, Out, Wait} = erlang:dist_get_stat(H), {In > 20000, Out > 20000, Wait} end),
    do(opt, fun(H) -> erlang:dist_ctrl_get_opt(H, get_size) end),
    do(set, fun(H) -> [erlang:dist_ctrl_set_opt(H, get_size, B) || B <- [true, false, false, true]] end),
    do(empty, fun(H) -> erlang:dist_ctrl_get_data(H) end),
    do(bad_opt, fun(H) -> erlang:dist_ctrl_get_opt(H, other) end),
    do(bad_set, fun(H) -> erlang:dist_ctrl_set_opt(H, get_size, 'maybe') end),
    do(bad_set, fun(H) -> erlang:dist_ctrl_set_opt(H, other, true) end),
    do(bad_handle, fun(_) -> erlang:dist_ctrl_get_data(make_ref()) end),
    do(bad_handle, fun(_) -> erlang:dist_ctrl_get_data_notification(x) end),
    do(bad_input, fun(H) -> erlang:dist_ctrl_input_handler(H, x) end),
    do(not_the_input, fun(H) -> erlang:dist_ctrl_put_data(H, []) end),
    do(bad_data, fun(H) -> erlang:dist_ctrl_put_data(H, x) end).
do(What, F) ->
    two:p(What, fun() -> carrier_dist:ask(fun(H) -> try F(H) catch C:E -> {C, E} end end) end).

%% By a process that carries nothing.
outside() ->
    H = carrier_dist:ask(fun(H) -> H end),
    two:p(get, fun() -> erlang:dist_ctrl_get_data(H) end),
    two:p(notification, fun() -> erlang:dist_ctrl_get_data_notification(H) end),
    two:p(input, fun() -> erlang:dist_ctrl_input_handler(H, self()) end),
    two:p(opt, fun() -> erlang:dist_ctrl_get_opt(H, get_size) end),
    two:p(set, fun() -> erlang:dist_ctrl_set_opt(H, get_size, true) end),
    two:p(put, fun() -> erlang:dist_ctrl_put_data(H, "abc") end),
    two:p(stat, fun() -> element(1, erlang:dist_get_stat(H)) end).

%% The carrier ends, and with it the connection; the next one is made as the first.
lost(N) ->
    ok = net_kernel:monitor_nodes(true, [nodedown_reason]),
    H = carrier_dist:ask(fun(H) -> H end),
    P = spawn_link(N, ?MODULE, echo, []),
    exit(whereis(carrier), some_reason),
    two:p(nodedown, fun() -> receive {nodedown, N, I} -> I after 5000 -> nothing end end),
    two:p(link, fun() -> receive {'EXIT', P, W} -> W after 5000 -> nothing end end),
    %% A handle without a connection has no figures, and without any meaning once there is the next
    %% connection, which the other node may have made already.
    two:p(old_handle, fun() ->
        case catch erlang:dist_get_stat(H) of {ok, 0, 0, 0} -> gone; {'EXIT', {badarg, _}} -> gone; X -> X end
    end),
    two:p(again, fun() -> two:other() =:= N end),
    two:p(up, fun() -> receive {nodeup, N, _} -> up after 5000 -> nothing end end),
    two:p(old_handle, fun() -> erlang:dist_get_stat(H) end),
    %% Nonsense from the other node ends it, too.
    rpc:cast(N, carrier_dist, ask, [fun(_) -> 0 end]),
    two:p(nonsense, fun() ->
        Input = carrier_dist:ask(fun(H1) ->
            Me = self(),
            I = spawn(fun() -> receive go -> Me ! put, erlang:dist_ctrl_put_data(H1, <<"nonsense">>) end end),
            ok = erlang:dist_ctrl_input_handler(H1, I), I ! go, I
        end),
        is_pid(Input)
    end),
    two:p(down, fun() -> receive {nodedown, N, _} -> down after 5000 -> nothing end end),
    two:p(again, fun() -> two:other() =:= N end).
