%% Selective receive, after 0, after N, nested receives, guards.
-module(receive_forms).
-export([main/0]).
main() ->
    [self() ! M || M <- [a, {b, 1}, {b, 2}, c, "str", 5]],
    t:p(receive {b, N} when N > 1 -> {got, N} end), t:p(receive X when is_integer(X) -> X end), t:p(receive zzz -> z after 0 -> none end), t:p(receive {b, _} = B -> B after 0 -> none end),
    t:p(t:flush()), t:p(receive after 10 -> timeout end), t:p(receive _ -> any after 0 -> empty end),
    self() ! one, self() ! two,
    t:p(receive two -> receive one -> {two, one} end end), t:p(receive x -> x after 20 -> late end),
    [self() ! {n, I} || I <- lists:seq(1, 50)], t:p([receive {n, I} -> I end || I <- lists:seq(50, 1, -1)]),
    t:pc(fun() -> receive after t:id(-1) -> x end end), t:pc(fun() -> receive after t:id(a) -> x end end), t:pc(fun() -> receive after t:id(1 bsl 40) -> x end end),
    self() ! last, t:p(receive Y -> Y after infinity -> never end),
    T = t:id(5), t:p(receive {T, _} -> hit after T -> miss end), self() ! {T, v}, t:p(receive {T, V} -> V after T -> miss end),
    t:p(try receive boom -> ok after 1 -> throw(in_after) end catch throw:R -> R end),
    self() ! 1, t:p(receive Z when Z / 0 > 1 -> bad; Z -> {guard_failed, Z} end).
