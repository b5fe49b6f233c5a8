%% Timers: started, read, cancelled, to names and processes that die, absolute times,
%% many at once, order of those that ring together; the timer module.
-module(timers_more).
-export([main/0, note/2]).
main() ->
    R = erlang:start_timer(10, self(), hello), t:p(receive {timeout, R, M} -> M end), t:p([erlang:cancel_timer(R), erlang:read_timer(R)]),
    S = erlang:send_after(100000, self(), late), L = erlang:read_timer(S), t:p(L > 99000 andalso L =< 100000), C = erlang:cancel_timer(S), t:p(C > 99000), t:p([erlang:cancel_timer(S), erlang:read_timer(S)]),
    A = erlang:send_after(1000, self(), x), t:p(erlang:cancel_timer(A, [{async, true}, {info, false}])), B = erlang:send_after(100000, self(), x), t:p(erlang:cancel_timer(B, [{async, true}])), t:p(receive {cancel_timer, B, T} -> T > 90000 after 1000 -> none end), t:p(erlang:cancel_timer(B, [{info, false}])),
    D = erlang:send_after(50000, self(), x), ok = erlang:read_timer(D, [{async, true}]), t:p(receive {read_timer, D, T1} -> T1 > 40000 end), erlang:cancel_timer(D), Now = erlang:monotonic_time(millisecond), E = erlang:start_timer(Now + 15, self(), abs, [{abs, true}]), t:p(receive {timeout, E, X} -> {X, erlang:monotonic_time(millisecond) >= Now + 15} end), E2 = erlang:start_timer(Now - 1, self(), past, [{abs, true}]), t:p(receive {timeout, E2, X2} -> X2 after 500 -> none end),
    register(tm, self()), erlang:send_after(5, tm, named), t:p(receive named -> named end), erlang:send_after(5, no_such_name, lost), P = spawn(fun() -> ok end), erlang:send_after(5, P, lost), timer:sleep(10),
    Q = spawn(fun() -> receive stop -> ok end end), F = erlang:start_timer(60000, Q, x), exit(Q, kill), timer:sleep(10), t:p(erlang:cancel_timer(F)),
    [erlang:send_after(N, self(), {n, N}) || N <- [30, 10, 20, 0, 40]], t:p([receive {n, N} -> N end || _ <- [1, 2, 3, 4, 5]]), [erlang:send_after(5, self(), {same, N}) || N <- lists:seq(1, 10)], t:p(lists:sort([receive {same, N} -> N end || _ <- lists:seq(1, 10)])),
    Rs = [erlang:start_timer(rand:uniform(50), self(), I) || I <- lists:seq(1, 5000)], t:p(length([ok || R0 <- Rs, receive {timeout, R0, _} -> true end])), Cs = [erlang:send_after(60000 + I, self(), I) || I <- lists:seq(1, 5000)], t:p(length([ok || R1 <- Cs, is_integer(erlang:cancel_timer(R1))])),
    [t:pc(G) || G <- [fun() -> erlang:send_after(t:id(-1), self(), x) end, fun() -> erlang:send_after(t:id(a), self(), x) end, fun() -> erlang:send_after(1, t:id(1), x) end, fun() -> erlang:start_timer(1 bsl 70, self(), x) end, fun() -> erlang:cancel_timer(t:id(x)) end, fun() -> erlang:cancel_timer(make_ref()) end, fun() -> erlang:start_timer(1, self(), x, [bad]) end, fun() -> erlang:cancel_timer(make_ref(), [{async, maybe_}]) end]],
    {ok, T2} = timer:send_after(5, sent), t:p(receive sent -> sent end), t:p(element(1, timer:cancel(T2))), {ok, T3} = timer:send_interval(3, tick), t:p([receive tick -> tick end || _ <- [1, 2, 3]]), t:p(timer:cancel(T3)), timer:sleep(10), t:flush(), timer:sleep(20), t:p(t:flush()),
    {ok, _} = timer:apply_after(3, ?MODULE, note, [self(), applied]), t:p(receive applied -> ok end), t:p([timer:seconds(2), timer:minutes(1), timer:hours(1), timer:hms(1, 2, 3)]), {Tc, V} = timer:tc(fun() -> timer:sleep(10), value end), t:p({V, Tc >= 10000}), t:p(element(2, timer:tc(lists, reverse, [[1, 2]]))),
    {ok, _} = timer:exit_after(5, spawn_link_me(), because), t:p(receive {'EXIT', _, W} -> W end), {ok, _} = timer:kill_after(5, spawn_link_me()), t:p(receive {'EXIT', _, W2} -> W2 end), t:p(timer:now_diff({0, 2, 3}, {0, 1, 4})), t:p(t:flush()).
note(To, X) -> To ! X.
spawn_link_me() -> process_flag(trap_exit, true), spawn_link(fun() -> receive never -> ok end end).
