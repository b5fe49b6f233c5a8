%% Messages, links, monitors, exits and processes from one node to another, and the end of that node.
-module(signals).
-export([main/0, echo/0]).

main() ->
    N = two:other(),
    process_flag(trap_exit, true),
    two:p(ping, fun() -> net_adm:ping(N) end),
    two:p(nodes, fun() -> nodes() =:= [N] end),
    terms(N),
    calls(N),
    ends(N),
    names(N),
    spawns(N),
    theirs(N),
    global(N),
    order(N),
    the_end(N).

echo() ->
    receive
        {die, R} -> exit(R);
        {F, X} -> F ! {self(), X}, echo()
    end.
from(P) -> receive {P, X} -> X after 5000 -> nothing end.

terms(N) ->
    P = spawn(N, ?MODULE, echo, []),
    two:p(there, fun() -> {node(P) =:= N, is_pid(P), is_process_alive_there(P)} end),
    Terms = [hello, lists:seq(1, 20000), binary:copy(<<"abc">>, 1000000), 1.5, -1 bsl 70, 1 bsl 40,
             "str", #{a => 1, {b} => [x | y]}, maps:from_list([{I, I} || I <- lists:seq(1, 100)]),
             <<5:3>>, fun lists:map/2, make_ref(), self(), P, [], <<>>, 'åäö', '漢', {}, alias(),
             binary_to_term(<<131, 88, 119, 3, "x@y", 5:32, 6:32, 7:32>>),
             list_to_tuple(lists:seq(1, 300)), "日本" ++ [$a | b]],
    two:p(terms, fun() -> [begin P ! {self(), T}, from(P) =:= T end || T <- Terms] end),
    K = 7,
    two:p(a_fun, fun() -> P ! {self(), fun(X) -> X + K end}, (from(P))(3) end),
    two:p(alias, fun() ->
        A = alias([reply]),
        spawn(N, fun() -> A ! one, A ! two end),
        receive M -> {M, receive two -> two after 100 -> none end} after 5000 -> nothing end
    end),
    two:p(text, fun() -> list_to_pid(pid_to_list(P)) =:= P end),
    two:p(binary, fun() -> P ! {self(), binary_to_term(term_to_binary(P))}, from(P) =:= P end),
    exit(P, kill).
is_process_alive_there(P) -> rpc:call(node(P), erlang, is_process_alive, [P]).

calls(N) ->
    two:p(rpc, fun() -> rpc:call(N, erlang, abs, [-7]) end),
    two:p(rpc_node, fun() -> rpc:call(N, erlang, node, []) =:= N end),
    two:p(rpc_error, fun() -> rpc:call(N, erlang, error, [foo]) end),
    two:p(rpc_undef, fun() -> element(1, rpc:call(N, nomodule, f, [])) end),
    two:p(erpc, fun() -> erpc:call(N, fun() -> {x, node() =:= N} end) end),
    two:p(erpc_throw, fun() -> erpc:call(N, fun() -> throw(y) end) end),
    two:p(erpc_exit, fun() -> erpc:call(N, fun() -> exit(z) end) end),
    two:p(erpc_error, fun() ->
        try erpc:call(N, fun() -> erlang:error(boo) end)
        catch error:{exception, R, S} -> {R, [{M, F, A} || {M, F, A, _} <- S]}
        end
    end),
    two:p(erpc_timeout, fun() -> erpc:call(N, timer, sleep, [5000], 50) end),
    two:p(erpc_many, fun() -> erpc:multicall([N, node()], erlang, abs, [-1]) end),
    two:p(call, fun() -> gen_server:call({rex, N}, hej, 300) =:= x end),
    two:p(call_nobody, fun() -> gen_server:call({nobody, N}, hej, 300) end),
    two:p(server, fun() ->
        {ok, S} = erpc:call(N, gen_event, start, []),
        {node(S) =:= N, gen_event:which_handlers(S), gen_event:stop(S)}
    end),
    two:p(output, fun() -> erpc:call(N, io, format, ["from there~n"]) end),
    two:p(input, fun() -> erpc:call(N, fun() -> node(group_leader()) end) =:= node() end).

ends(N) ->
    P = spawn(N, ?MODULE, echo, []),
    M = monitor(process, P),
    exit(P, bye),
    two:p(down, fun() -> receive {'DOWN', M, process, P, R} -> R after 5000 -> nothing end end),
    M2 = monitor(process, P),
    two:p(gone, fun() -> receive {'DOWN', M2, process, P, R} -> R after 5000 -> nothing end end),
    L = spawn_link(N, ?MODULE, echo, []),
    two:p(links, fun() -> lists:member(L, element(2, process_info(self(), links))) end),
    two:p(links_there, fun() ->
        {links, Ls} = rpc:call(N, erlang, process_info, [L, links]),
        Ls =:= [self()]
    end),
    L ! {die, why},
    two:p(link, fun() -> receive {'EXIT', L, R} -> R after 5000 -> nothing end end),
    two:p(link_gone, fun() -> link(L), receive {'EXIT', L, R} -> R after 5000 -> nothing end end),
    U = spawn(N, ?MODULE, echo, []),
    link(U), unlink(U), link(U), unlink(U),
    U ! {die, unlinked},
    two:p(unlink, fun() -> receive {'EXIT', U, R} -> R after 200 -> none end end),
    V = spawn(N, ?MODULE, echo, []),
    link(V), unlink(V), link(V),
    V ! {die, again},
    two:p(relink, fun() -> receive {'EXIT', V, R} -> R after 5000 -> nothing end end),
    D = spawn(N, ?MODULE, echo, []),
    MD = monitor(process, D),
    two:p(monitors, fun() -> process_info(self(), monitors) =:= {monitors, [{process, D}]} end),
    two:p(monitored_by, fun() ->
        {monitored_by, B} = rpc:call(N, erlang, process_info, [D, monitored_by]),
        B =:= [self()]
    end),
    two:p(demonitor, fun() -> {demonitor(MD, [info]), demonitor(MD, [info])} end),
    two:p(monitored_by_none, fun() -> rpc:call(N, erlang, process_info, [D, monitored_by]) end),
    exit(D, kill),
    two:p(demonitored, fun() -> receive {'DOWN', MD, _, _, R} -> R after 200 -> none end end),
    two:p(big_reason, fun() ->
        Q = spawn_link(N, erlang, exit, [lists:seq(1, 50000)]),
        receive {'EXIT', Q, R} -> length(R) after 5000 -> nothing end
    end).

names(N) ->
    two:p(unnamed, fun() -> {nobody, N} ! x end),
    two:p(monitor_name, fun() ->
        M = monitor(process, {nobody, N}),
        receive {'DOWN', M, process, {nobody, X}, R} when X =:= N -> R after 5000 -> nothing end
    end),
    two:p(by_name, fun() ->
        P = spawn(N, ?MODULE, echo, []),
        true = rpc:call(N, erlang, register, [echo, P]),
        {echo, N} ! {self(), hej},
        A = from(P),
        M = monitor(process, {echo, N}),
        {echo, N} ! {die, done},
        receive {'DOWN', M, process, {echo, X}, R} when X =:= N -> {A, R} after 5000 -> nothing end
    end).

spawns(N) ->
    two:p(monitor, fun() ->
        {Q, M} = spawn_monitor(N, ?MODULE, echo, []),
        Q ! {die, there},
        receive {'DOWN', M, process, Q, R} -> R after 5000 -> nothing end
    end),
    two:p(bad_options, fun() -> spawn_opt(N, ?MODULE, echo, [], [bad]) end),
    two:p(options, fun() ->
        P = spawn_opt(N, ?MODULE, echo, [], [{priority, low}, {min_heap_size, 5000}]),
        {priority, X} = rpc:call(N, erlang, process_info, [P, priority]),
        exit(P, kill), X
    end),
    two:p(request, fun() ->
        R = spawn_request(N, ?MODULE, echo, [],
                          [{reply_tag, tag}, link, {monitor, [{tag, down}, {alias, demonitor}]}]),
        receive
            {tag, R, ok, P} ->
                exit(P, kill),
                A = receive {'EXIT', P, W} -> W after 5000 -> nothing end,
                B = receive {down, R, process, P, W2} -> W2 after 5000 -> nothing end,
                {is_pid(P), A, B}
        after 5000 -> nothing
        end
    end),
    two:p(request_bad, fun() ->
        R = spawn_request(N, ?MODULE, echo, [], [bad]),
        receive {spawn_reply, R, error, W} -> W after 5000 -> nothing end
    end),
    two:p(request_silent, fun() ->
        R = spawn_request(N, erlang, self, [], [{reply, error_only}]),
        receive {spawn_reply, R, X, _} -> X after 300 -> nothing end
    end),
    two:p(abandoned, fun() ->
        R = spawn_request(N, timer, sleep, [infinity], [link]),
        X = spawn_request_abandon(R),
        {X, spawn_request_abandon(R), receive {spawn_reply, R, _, _} -> reply after 200 -> none end}
    end),
    two:p(initial_call, fun() ->
        P = spawn(N, ?MODULE, echo, []),
        I = rpc:call(N, erlang, process_info, [P, [initial_call, current_stacktrace, group_leader]]),
        [{_, C}, {_, S}, {_, G}] = I,
        exit(P, kill),
        {C, [{M, F, A} || {M, F, A, _} <- S], G =:= group_leader()}
    end),
    two:p(many, fun() ->
        Ps = [spawn_link(N, ?MODULE, echo, []) || _ <- lists:seq(1, 200)],
        [P ! {self(), P} || P <- Ps],
        All = [from(P) =:= P || P <- Ps],
        [unlink(P) || P <- Ps], [exit(P, kill) || P <- Ps],
        lists:usort(All)
    end).

%% What processes there do with those here.
theirs(N) ->
    Me = self(),
    two:p(they_link, fun() ->
        W = spawn(fun() -> receive {from, X} -> Me ! {got, X} end end),
        spawn(N, fun() -> link(W), W ! {from, there} end),
        receive {got, V} -> V after 5000 -> nothing end
    end),
    Stop = fun() -> spawn(fun() -> receive stop -> exit(stopped) end end) end,
    two:p(they_monitor, fun() ->
        W = Stop(),
        spawn(N, fun() ->
            R = monitor(process, W), Me ! ready,
            receive {'DOWN', R, process, W, Why} -> Me ! {heard, Why} end
        end),
        receive ready -> ok end,
        {monitored_by, [P]} = monitored(W, 100),
        W ! stop,
        {node(P) =:= N, receive {heard, V} -> V after 5000 -> nothing end}
    end),
    two:p(they_trap, fun() ->
        W = Stop(),
        spawn(N, fun() ->
            process_flag(trap_exit, true), link(W), Me ! ready,
            receive {'EXIT', W, Why} -> Me ! {heard, Why} end
        end),
        receive ready -> ok end,
        W ! stop,
        receive {heard, V} -> V after 5000 -> nothing end
    end),
    two:p(they_kill, fun() ->
        {W, M} = spawn_monitor(fun() -> receive stop -> ok end end),
        spawn(N, fun() -> exit(W, kill) end),
        receive {'DOWN', M, process, W, R} -> R after 5000 -> nothing end
    end),
    two:p(they_lead, fun() ->
        P = spawn(fun() -> receive {F, ask} -> F ! {self(), group_leader()} end end),
        G = spawn(N, fun() -> group_leader(self(), P), Me ! done, timer:sleep(infinity) end),
        receive done -> ok end,
        P ! {self(), ask},
        X = from(P), exit(G, kill),
        X =:= G
    end).
monitored(W, Tries) ->
    case process_info(W, monitored_by) of
        {monitored_by, []} when Tries > 0 -> timer:sleep(10), monitored(W, Tries - 1);
        I -> I
    end.

global(N) ->
    two:p(global, fun() ->
        global:sync(),
        yes = global:register_name(me, self()),
        rpc:call(N, global, whereis_name, [me]) =:= self()
    end).

order(N) ->
    two:p(order, fun() ->
        E = spawn(N, fun() -> receive {go, F} -> [F ! I || I <- lists:seq(1, 5000)] end end),
        E ! {go, self()},
        All = lists:seq(1, 5000),
        [receive I when is_integer(I) -> I after 5000 -> nothing end || _ <- All] =:= All
    end).

the_end(N) ->
    ok = net_kernel:monitor_nodes(true),
    ok = net_kernel:monitor_nodes(true, [nodedown_reason, {node_type, all}]),
    monitor_node(N, true), monitor_node(N, true), monitor_node(N, true), monitor_node(N, false),
    H = spawn_link(N, ?MODULE, echo, []),
    M = monitor(process, H),
    S = spawn(N, timer, sleep, [infinity]),
    rpc:cast(N, erlang, halt, []),
    two:p(nodedown, fun() ->
        [receive {nodedown, N} -> ok after 5000 -> nothing end || _ <- [1, 2, 3]]
    end),
    two:p(nodedown_info, fun() -> receive {nodedown, N, I} -> I after 5000 -> nothing end end),
    two:p(exit_lost, fun() -> receive {'EXIT', H, R} -> R after 5000 -> nothing end end),
    two:p(down_lost, fun() -> receive {'DOWN', M, process, H, R} -> R after 5000 -> nothing end end),
    two:p(nodes, fun() -> nodes() end),
    %% Before anything begins to connect again.
    two:p(send_options, fun() -> erlang:send({x, N}, y, [noconnect]) end),
    two:p(send, fun() -> S ! x end),
    two:p(rest, fun() -> receive X -> X after 100 -> none end end),
    two:p(ping, fun() -> net_adm:ping(N) end),
    two:p(spawn, fun() ->
        P = spawn_link(N, erlang, self, []),
        receive {'EXIT', P, R} -> R after 5000 -> nothing end
    end).
