%% since 28
%% Priority messages: by alias, monitor, link and exit signal; their place in the queue, within a
%% receive that has begun, behind receive markers, and what enables them.
-module(since28_priority).
-export([main/0, child/1]).

main() ->
    [begin t:p(Name), spawn_and_wait(fun() -> case_of(Name) end) end
     || Name <- [aliases, options, ended_aliases, monitors, links, exits, exit_signals, during_receive,
                 selective, markers, hibernation, timeouts, spawned, many, own, info_of_others, tokens]].

spawn_and_wait(F) ->
    {Pid, M} = spawn_monitor(F),
    receive {'DOWN', M, process, Pid, Reason} -> t:p(ended, Reason) end.

case_of(aliases) ->
    A = alias([priority]),
    B = alias(),
    P = alias([priority, reply]),
    t:p(process_info(self(), priority_messages)),
    self() ! a,
    erlang:send(A, b, [priority]),
    erlang:send(A, c, []),
    A ! d,
    erlang:send(B, e, [priority]),
    erlang:send(self(), f, [priority]),
    erlang:send(A, g, [priority, noconnect]),
    erlang:send(P, h, [priority]),
    erlang:send(P, gone, [priority]),
    t:p(process_info(self(), [message_queue_len, messages])),
    t:p(t:flush()),
    t:p([unalias(X) || X <- [A, A, B, P]]),
    t:p(process_info(self(), priority_messages));
case_of(options) ->
    t:each(fun(O) -> t:plain(alias(O)) end, [[], [priority, priority], [explicit_unalias, priority], [prio], priority, [priority | x]]),
    t:each(fun(O) -> erlang:send(self(), m, O) end, [[priority], [prio], [priority | x], [nosuspend, priority]]),
    t:each(fun(O) -> t:plain(monitor(process, self(), O)) end, [[priority], [prio], [{priority, true}], [priority | x], x]),
    t:each(fun(O) -> link(self(), O) end, [[], [priority], [prio], [priority | x], x]),
    t:each(fun(O) -> exit(spawn(?MODULE, child, [x]), normal, O) end, [[], [priority], [prio], [priority | x], x]),
    t:each(fun(O) -> erlang:exit_signal(spawn(?MODULE, child, [x]), normal, O) end, [[], [priority], [prio], x]),
    t:each(fun(X) -> exit(X, normal, [priority]) end, [x, 1, make_ref(), alias([priority])]),
    t:each(fun(O) -> t:plain(spawn_opt(?MODULE, child, [x], O)) end,
           [[{link, []}], [{link, [priority]}], [{link, [x]}], [{link, x}], [{monitor, [priority]}],
            [{monitor, [priority, {tag, t}, {alias, demonitor}]}], [{priority, high}, link, {link, [priority]}]]),
    t:p(length(t:flush()) > 0);
case_of(ended_aliases) ->
    A = alias([priority]),
    B = alias([priority, reply]),
    M = monitor(process, whereis(kernel_sup), [priority, {alias, reply_demonitor}]),
    erlang:send(A, a, [priority]),
    unalias(A),
    erlang:send(A, lost, [priority]),
    self() ! ordinary,
    erlang:send(B, b, [priority]),
    erlang:send(B, lost, [priority]),
    erlang:send(M, m, [priority]),
    erlang:send(M, lost, [priority]),
    t:p(process_info(self(), [messages, priority_messages])),
    t:p(t:flush()),
    t:p(demonitor(M, [info]));
case_of(monitors) ->
    Pids = [spawn(?MODULE, child, [wait]) || _ <- lists:seq(1, 4)],
    [P1, P2, P3, P4] = Pids,
    M1 = monitor(process, P1, [priority]),
    M2 = monitor(process, P2),
    M3 = monitor(process, P3, [priority, {tag, third}]),
    M4 = monitor(process, P4, [priority]),
    t:p(process_info(self(), priority_messages)),
    demonitor(M4),
    self() ! first,
    [begin P ! stop, gone(P) end || P <- [P2, P1, P4, P3]],
    Gone = monitor(process, P1, [priority]),
    Named = monitor(process, no_such_name, [priority]),
    t:p(process_info(self(), message_queue_len)),
    Names = #{M1 => m1, M2 => m2, M3 => m3, M4 => m4, Gone => gone, Named => named},
    t:p([named(X, Names) || X <- await_messages(6)]),
    t:p(process_info(self(), priority_messages));
case_of(links) ->
    process_flag(trap_exit, true),
    Pids = [spawn(?MODULE, child, [wait]) || _ <- lists:seq(1, 5)],
    [P1, P2, P3, P4, P5] = Pids,
    true = link(P1, [priority]),
    true = link(P2),
    true = link(P3, [priority]),
    true = link(P4, [priority]),
    true = link(P5),
    link(P3, []),
    link(P5, [priority]),
    t:p(process_info(self(), priority_messages)),
    unlink(P4),
    link(P4),
    self() ! first,
    [begin P ! stop, gone(P) end || P <- [P2, P1, P3, P4, P5]],
    Names = maps:from_list(lists:zip(Pids, [p1, p2, p3, p4, p5])),
    t:p([named(X, Names) || X <- await_messages(6)]),
    self() ! second,
    true = link(P1, [priority]),
    t:p([named(X, Names) || X <- await_messages(2)]),
    process_flag(trap_exit, false),
    t:p(t:c(fun() -> link(P1, [priority]) end)),
    t:p(process_info(self(), priority_messages));
case_of(exits) ->
    process_flag(trap_exit, true),
    A = alias([priority]),
    B = alias(),
    Me = self(),
    spawn_and_wait(fun() ->
        Me ! ordinary,
        exit(A, r1, [priority]),
        exit(B, r2, [priority]),
        exit(A, r3, []),
        exit(A, r4),
        exit(Me, r5, [priority]),
        exit(A, normal, [priority]),
        exit(make_ref(), r6, [priority])
    end),
    t:p([X || {'EXIT', _, X} <- t:flush()]),
    unalias(A),
    t:p(exit(A, lost, [priority])),
    exit(B, own),
    t:p([{X, P =:= self()} || {'EXIT', P, X} <- t:flush()]),
    process_flag(trap_exit, false),
    t:p(exit(B, normal, [priority])),
    exit(B, killed_by_alias, [priority]),
    receive after infinity -> ok end;
case_of(exit_signals) ->
    A = alias([priority]),
    spawn_and_wait(fun() -> erlang:exit_signal(self(), normal), t:p(lives) end),
    spawn_and_wait(fun() -> erlang:exit_signal(self(), normal, [priority]), t:p(lives), exit(self(), normal), t:p(no) end),
    spawn_and_wait(fun() ->
        process_flag(trap_exit, true),
        erlang:exit_signal(self(), normal),
        erlang:exit_signal(self(), other),
        t:p([X || {'EXIT', _, X} <- t:flush()])
    end),
    spawn_and_wait(fun() -> erlang:exit_signal(self(), reason), receive after infinity -> ok end end),
    erlang:exit_signal(A, by_alias, [priority]),
    receive after infinity -> ok end;
case_of(during_receive) ->
    A = alias([priority]),
    Me = self(),
    [self() ! {n, I} || I <- lists:seq(1, 5)],
    Helper = spawn_link(fun() ->
        t:await(fun() -> process_info(Me, status) =:= {status, waiting} end),
        Me ! {n, 6},
        t:await(fun() -> process_info(Me, status) =:= {status, waiting} end),
        erlang:send(A, {urgent, 1}, [priority]),
        erlang:send(A, {urgent, 2}, [priority]),
        t:await(fun() -> process_info(Me, status) =:= {status, waiting} end),
        Me ! {n, 7},
        erlang:send(A, {done, 3}, [priority])
    end),
    unlink(Helper),
    receive {done, X} -> t:p({done, X}) end,
    t:p(process_info(self(), messages)),
    receive {n, 3} -> t:p(three) end,
    erlang:send(A, {urgent, 4}, [priority]),
    receive {n, 7} -> t:p(seven) end,
    t:p(process_info(self(), messages)),
    t:p([receive M -> M end || _ <- lists:seq(1, 8)]);
case_of(selective) ->
    A = alias([priority]),
    [begin self() ! {o, I}, erlang:send(A, {u, I}, [priority]) end || I <- lists:seq(1, 40)],
    t:p([begin receive {u, I} -> ok end, receive {o, J} when J =:= I -> ok end, next() end || I <- [3, 7, 40, 20]]),
    t:p([receive {o, I} -> I end || I <- lists:seq(2, 39), not lists:member(I, [3, 7, 40, 20])]),
    t:p(length(t:flush()));
case_of(markers) ->
    A = alias([priority]),
    Server = spawn_link(fun() -> server(A) end),
    [self() ! {old, I} || I <- lists:seq(1, 100)],
    [erlang:send(A, {urgent, I}, [priority]) || I <- lists:seq(1, 10)],
    t:p([call(Server, N) || N <- lists:seq(1, 20)]),
    t:p([call_urgent(Server, N) || N <- lists:seq(1, 20)]),
    t:p(process_info(self(), message_queue_len)),
    t:p(t:flush()),
    unlink(Server);
case_of(hibernation) ->
    A = alias([priority]),
    self() ! ordinary,
    receive nothing -> ok after 0 -> ok end,
    erlang:send_after(20, self(), late),
    spawn(fun() -> erlang:send(A, urgent, [priority]) end),
    proc_lib:hibernate(?MODULE, child, [flush]);
case_of(timeouts) ->
    A = alias([priority]),
    Me = self(),
    spawn(fun() -> [begin erlang:send(A, {u, I}, [priority]), Me ! {o, I} end || I <- lists:seq(1, 10)], Me ! all end),
    receive nothing -> ok after 30 -> t:p(timeout) end,
    receive all -> ok end,
    receive nothing -> ok after 0 -> t:p(timeout) end,
    t:p(t:flush());
case_of(spawned) ->
    process_flag(trap_exit, true),
    self() ! ordinary,
    {P, M} = spawn_opt(?MODULE, child, [x], [{link, [priority]}, {monitor, [priority, {tag, tagged}]}]),
    {Q, N} = spawn_opt(?MODULE, child, [x], [link, monitor]),
    R = spawn_request(?MODULE, child, [x], [{link, [priority]}, {monitor, [priority]}]),
    S = receive {spawn_reply, R, ok, Pid} -> Pid end,
    Names = #{P => p, Q => q, S => s, M => m, N => n, R => r},
    t:p(lists:sort([named(X, Names) || X <- await_messages(7)])),
    t:p(process_info(self(), priority_messages));
case_of(many) ->
    A = alias([priority]),
    Me = self(),
    Senders = [spawn_link(fun() ->
        [case I rem 3 of 0 -> erlang:send(A, {u, S, I}, [priority]); _ -> Me ! {o, S, I} end || I <- lists:seq(1, 300)]
    end) || S <- [1, 2, 3]],
    [unlink(S) || S <- Senders],
    All = [receive M -> M end || _ <- lists:seq(1, 900)],
    t:p([{K, S, [I || {K1, S1, I} <- All, K1 =:= K, S1 =:= S] =:= lists:sort([I || {K1, S1, I} <- All, K1 =:= K, S1 =:= S])}
         || K <- [u, o], S <- [1, 2, 3]]),
    t:p(t:flush());
case_of(own) ->
    A = alias([priority]),
    [begin self() ! {o, I}, erlang:send(A, {u, I}, [priority]) end || I <- [1, 2]],
    garbage_collect(),
    t:p(process_info(self(), messages)),
    process_flag(message_queue_data, off_heap),
    erlang:send(A, list_to_binary(lists:duplicate(100, $x)), [priority]),
    erlang:send(A, lists:seq(1, 300), [priority]),
    garbage_collect(),
    process_flag(message_queue_data, on_heap),
    t:p([erlang:phash2(X) || X <- t:flush()]);
case_of(info_of_others) ->
    Me = self(),
    P = spawn(fun() ->
        A = alias([priority]),
        Me ! {alias, A},
        receive stop -> unalias(A) end,
        Me ! unaliased,
        receive after infinity -> ok end
    end),
    A = receive {alias, X} -> X end,
    t:p(process_info(P, priority_messages)),
    P ! other,
    erlang:send(A, urgent, [priority]),
    t:p(process_info(P, [message_queue_len, messages, priority_messages])),
    P ! stop,
    receive unaliased -> ok end,
    t:p(process_info(P, [messages, priority_messages])),
    exit(P, kill);
case_of(tokens) ->
    A = alias([priority]),
    seq_trace:set_token(label, 17),
    self() ! a,
    erlang:send(A, b, [priority]),
    seq_trace:set_token([]),
    erlang:send(A, c, [priority]),
    t:p([receive M -> {M, seq_trace:get_token(label)} end || _ <- [1, 2, 3]]).

child(wait) -> receive stop -> ok end;
child(flush) -> timer:sleep(40), t:p(t:flush());
child(x) -> ok.

gone(P) -> t:await(fun() -> not is_process_alive(P) end).

await_messages(N) ->
    t:await(fun() -> process_info(self(), message_queue_len) =:= {message_queue_len, N} end),
    t:flush().

named({'DOWN', M, process, _, R}, Names) -> {maps:get(M, Names), R};
named({Tag, M, process, _, R}, Names) -> {Tag, maps:get(M, Names), R};
named({'EXIT', P, R}, Names) -> {exit, maps:get(P, Names), R};
named(X, _) -> X.

next() -> receive {u, I} -> I end.

server(A) ->
    receive
        {ask, From, Ref, N} -> From ! {Ref, N * 2};
        {urgent, Ref, N} -> erlang:send(A, {Ref, N * 3}, [priority])
    end,
    server(A).

call(Server, N) ->
    Ref = make_ref(),
    Server ! {ask, self(), Ref, N},
    receive {Ref, X} -> X end.

call_urgent(Server, N) ->
    Ref = make_ref(),
    Server ! {urgent, Ref, N},
    receive {Ref, X} -> X end.
