%% Which failing additions and subtractions show a line of erlang's in their stack trace: all but those
%% of a register and a small integer. A plus sign is an addition of 0.
-module(increment_lines).
-export([main/0]).

main() ->
    Funs = [fun(X) -> +X end, fun(X) -> X + 0 end, fun(X) -> 0 + X end, fun(X) -> X - 0 end,
            fun(X) -> 0 - X end, fun(X) -> X + (1 bsl 58) end, fun(X) -> X + (1 bsl 62) end,
            fun(X) -> X - (1 bsl 62) end, fun(X) -> X - (-(1 bsl 59)) end,
            fun(X) -> X + (-(1 bsl 59)) end, fun(X) -> (1 bsl 59) + X end, fun(X) -> X + 1.5 end,
            fun(X) -> X - a end, fun(X) -> X + X end, fun(X) -> 1 + (X + 1) end, fun(X) -> -X end],
    [t:p(t:st(fun() -> F(X) end)) || F <- Funs, X <- [[{}], a]],
    [t:p(t:c(fun() -> F(X) end)) || F <- Funs, X <- [5, -0.0, 2.5, 1 bsl 59, -(1 bsl 59), (1 bsl 59) - 1]],
    t:p(t:st(fun constant/0)),
    t:p(t:st(fun constant_sum/0)),
    t:p(t:st(fun constant_difference/0)),
    t:p([guard(X) || X <- [0, 1, -0.0, a, 2.0]]).

constant() -> float(+[{}]).
constant_sum() -> float([{}] + 1).
constant_difference() -> float([{}] - 1).
guard(X) when +X == 0 -> zero;
guard(X) when X + 1 =:= 2 -> one;
guard(X) when X - 1 == 1 -> two;
guard(_) -> other.
