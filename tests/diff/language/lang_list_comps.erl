%% List comprehensions with several generators, filters that fail, patterns.
-module(lang_list_comps).
-export([main/0]).
main() ->
    t:p([{X, Y} || X <- [1, 2, 3], Y <- lists:seq(X, 3), X =/= Y]),
    t:p([X || {ok, X} <- [{ok, 1}, error, {ok, 2}, {ok}]]),
    t:p([X || X <- [1, a, 2], is_integer(X), X > 1]),
    t:p(t:c(fun() -> [X || X <- [1, a], X + 1 > 0] end)),
    t:p(t:c(fun() -> [X || X <- [1, 2], t:id(X)] end)),
    t:p(t:c(fun() -> [X || X <- [1 | a]] end)),
    t:p([Y || X <- [[1, 2], [3]], Y <- X]),
    t:p([X || X <- [1, 2], Y <- [X], Y =:= 2]),
    t:p([begin put(n, X), get(n) end || X <- [1, 2]]),
    t:p([case X of 1 -> a; _ -> b end || X <- [1, 2]]), X = 5,
    t:p([X || X <- [1, 2]]),
    t:p(X),
    t:p([[Z || Z <- L, Z > 1] || L <- [[1, 2], [3]]]),
    t:p([A + B || {A, B} <- lists:zip([1, 2], [3, 4])]),
    t:p([] =:= [Q || Q <- []]),
    t:p(lists:sum([I || I <- lists:seq(1, 10000), I rem 7 =:= 0])),
    t:p([S || "a" ++ S <- ["abc", "xyz", "a"]]),
    t:p([E || E <- [1, 2, 3], (fun(V) -> V rem 2 =:= 1 end)(E)]),
    t:p([W || <<W:2>> <= <<2#11011000>>, W > 1]),
    t:p(t:c(fun() -> [K || #{k := K} <- [#{k => 1}, #{}]] end)),
    t:p([fun() -> V end || V <- [1, 2]] =/= []),
    t:p([F() || F <- [fun() -> V end || V <- [1, 2]]]).
