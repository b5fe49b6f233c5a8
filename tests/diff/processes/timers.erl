%% send_after, start_timer, cancel and read, absolute times, to names.
-module(timers).
-export([main/0]).
main() ->
    R1 = erlang:send_after(10, self(), hello), t:p(receive hello -> got after 1000 -> none end), t:p(erlang:cancel_timer(R1)), t:p(erlang:read_timer(R1)),
    R2 = erlang:start_timer(10, self(), msg), t:p(receive {timeout, R2, M} -> M after 1000 -> none end),
    R3 = erlang:send_after(100000, self(), never), L = erlang:read_timer(R3), t:p(is_integer(L) andalso L > 90000), C = erlang:cancel_timer(R3), t:p(is_integer(C) andalso C =< L), t:p(erlang:cancel_timer(R3)),
    R4 = erlang:send_after(50000, self(), x), t:p(erlang:cancel_timer(R4, [{info, false}])), R5 = erlang:start_timer(50000, self(), x), t:p(erlang:cancel_timer(R5, [{async, true}])), t:p(receive {cancel_timer, R5, T} -> is_integer(T) after 1000 -> none end), t:p(erlang:cancel_timer(R5, [{async, true}, {info, false}])),
    register(timer_name, self()), erlang:send_after(1, timer_name, named), t:p(receive named -> ok after 1000 -> none end), erlang:send_after(1, no_such_name, lost),
    erlang:send_after(erlang:monotonic_time(millisecond) + 10, self(), abs, [{abs, true}]), t:p(receive abs -> abs after 1000 -> none end), erlang:send_after(0, self(), zero), t:p(receive zero -> zero after 1000 -> none end),
    [erlang:send_after(D, self(), {t, D}) || D <- [60, 20, 40, 0]], t:p([receive {t, D} -> D after 1000 -> none end || _ <- [1, 2, 3, 4]]),
    {ok, TR} = timer:send_after(100000, x), t:p(element(1, TR) =/= x), t:p(timer:cancel(TR)), t:p(element(1, timer:tc(fun() -> timer:sleep(20) end)) >= 20000), {ok, I} = timer:send_interval(5, tick), t:p([receive tick -> tick after 1000 -> none end || _ <- [1, 2, 3]]), timer:cancel(I),
    [t:pc(F) || F <- [fun() -> erlang:send_after(t:id(-1), self(), x) end, fun() -> erlang:send_after(1, t:id("x"), x) end, fun() -> erlang:start_timer(t:id(1 bsl 70), self(), x) end, fun() -> erlang:cancel_timer(t:id(a)) end, fun() -> erlang:cancel_timer(R4, [t:id(bad)]) end]],
    P = spawn(fun() -> receive q -> q end end), erlang:send_after(1, P, q), MR = monitor(process, P), t:p(receive {'DOWN', MR, _, _, W} -> W end).
