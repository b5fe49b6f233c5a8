%% receive inside funs, comprehension, try, case of received values.
-module(recv_in_funs).
-export([main/0]).
main() ->
    [self() ! I || I <- lists:seq(1, 9)], t:p([receive X -> X end || _ <- [a, b, c]]), t:p((fun() -> receive X -> {f, X} end end)()), t:p(try receive X2 when X2 rem 2 =:= 0 -> {even, X2} end catch _:_ -> x end), t:p(case receive Xx -> Xx end of 5 -> five; O -> O end),
    t:p(t:c(fun() -> receive 7 -> error(seven) end end)), t:p(catch receive 8 -> throw(eight) end), F = fun L(0) -> []; L(N) -> receive X -> [X | L(N - 1)] after 0 -> [none | L(N - 1)] end end, t:p(F(4)), self() ! {1, 2}, t:p(receive {A, B} when A > B -> gt; {A, B} -> {lt, A, B} end).
