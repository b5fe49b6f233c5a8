%% Timers fire in the order of their times; cancelling tells what is left; read_timer.
-module(timer_order).
-export([main/0]).
main() ->
    [erlang:start_timer(T, self(), T) || T <- [30, 10, 20, 0, 40, 10]],
    t:p([receive {timeout, _, T} -> T end || _ <- lists:seq(1, 6)]), R = erlang:start_timer(100000, self(), x), L = erlang:read_timer(R),
    t:p(L > 90000 andalso L =< 100000), C = erlang:cancel_timer(R),
    t:p(C =< L),
    t:p([erlang:read_timer(R), erlang:cancel_timer(R), erlang:cancel_timer(R, [{info, false}])]),
    t:p(erlang:cancel_timer(R, [{async, true}])), receive {cancel_timer, R, V} -> t:p(V) end,
    t:p(erlang:read_timer(R, [{async, true}])),
    receive {read_timer, R, V2} -> t:p(V2) end, erlang:send_after(1, no_such_name, x), {P, M} = spawn_monitor(fun() -> receive x -> ok end end), erlang:send_after(1, P, x),
    receive {'DOWN', M, _, _, W} -> t:p(W) end, register(tm_name, self()), erlang:send_after(1, tm_name, to_name),
    receive to_name -> t:p(ok) end, Abs = erlang:monotonic_time(millisecond) + 5, erlang:start_timer(Abs, self(), abs, [{abs, true}]),
    receive {timeout, _, abs} -> t:p(erlang:monotonic_time(millisecond) >= Abs) end,
    t:pc(fun() -> erlang:start_timer(-(1 bsl 62), self(), past, [{abs, true}]) end), T0 = erlang:monotonic_time(microsecond), receive after 3 -> ok end,
    t:p(erlang:monotonic_time(microsecond) - T0 >= 3000), Refs = [erlang:send_after(500000, self(), I) || I <- lists:seq(1, 2000)],
    t:p(length([1 || X <- Refs, is_integer(erlang:cancel_timer(X))])),
    t:p(t:flush()).
