%% receive with every form of time-out.
-module(recv_after_forms).
-export([main/0]).
main() ->
    [t:p(T, t:c(fun() -> receive x -> x after T -> timeout end end)) || T <- [0, 1, 1.5, -1, a, "1", 1 bsl 32, 1 bsl 70, infinityy]], self() ! x, t:p(receive x -> x after 1 bsl 70 -> t end),
    t:p(t:flush()), self() ! y, t:p(receive x -> x after 0 -> none end), t:p(receive y -> y after infinity -> none end), T0 = erlang:monotonic_time(millisecond), receive never -> ok after 30 -> ok end, D = erlang:monotonic_time(millisecond) - T0, t:p({D >= 30, D < 5000}),
    self() ! {a, 1}, self() ! {b, 2}, self() ! {a, 3}, t:p(receive {b, N} -> N end), t:p(t:flush()), t:p(receive after 0 -> after_only end), t:p(t:c(fun() -> receive after a -> b end end)), t:p(t:c(fun() -> receive X when X > 5 -> X after t:id(0) -> z end end)).
