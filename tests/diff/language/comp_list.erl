%% List comprehensions: several generators, filters, patterns, failing filters.
-module(comp_list).
-export([main/0]).
main() ->
    t:p([X * 2 || X <- lists:seq(1, 10), X rem 2 =:= 0]),
    t:p([{X, Y} || X <- [1, 2, 3], Y <- [a, b]]),
    t:p([{X, Y} || X <- lists:seq(1, 5), Y <- lists:seq(X, 5), X + Y =:= 6]),
    t:p([X || {ok, X} <- [{ok, 1}, {error, 2}, {ok, 3}, ok]]),
    t:p([X || X <- [1, a, 2, "x"], is_integer(X)]),
    t:p([X || X <- [1, a, 2, 3], X + 1 > 2]),
    t:p(t:c(fun() -> [X || X <- [1, 2], t:id(X)] end)),
    t:p(t:c(fun() -> [X || X <- t:id([1, 2 | 3])] end)),
    t:p(t:c(fun() -> [X || X <- t:id(foo)] end)),
    t:p([[Y || Y <- X, Y > 1] || X <- [[1, 2], [], [3]]]),
    X = 5,
    t:p([X || X <- [1, 2]]),
    t:p(X),
    t:p(length([ok || _ <- lists:seq(1, 100000)])),
    t:p([A + B || A <- [1, 2], B <- [10], A < 2 orelse B > 5, true]),
    t:p(lists:sum([I * I || I <- lists:seq(1, 1000)])).
