%% Closures, recursion, named funs, funs in data, arity errors.
-module(funs_closures).
-export([main/0]).
main() ->
    Add = fun(A) -> fun(B) -> A + B end end, t:p((Add(3))(4)),
    Fact = fun F(0) -> 1; F(N) -> N * F(N - 1) end, t:p(Fact(25)),
    Fib = fun Fib(N) when N < 2 -> N; Fib(N) -> Fib(N - 1) + Fib(N - 2) end, t:p([Fib(N) || N <- lists:seq(0, 15)]),
    {A, B, C, D, E} = t:id({1, 2.0, "three", four, #{five => 5}}),
    Big = fun(X, Y) -> {A, B, C, D, E, X, Y} end, t:p(Big(x, y)),
    t:p(lists:map(fun({K, V}) -> V; (K) -> K end, [{a, 1}, b])),
    t:p(apply(Big, [1, 2])), t:p(erlang:apply(lists, reverse, [[1, 2]])), t:p(erlang:apply(fun lists:sum/1, [[1, 2]])),
    M = t:id(lists), F = t:id(max), t:p(M:F([3, 9, 2])), t:p(apply(M, F, t:id([[1]]))),
    Compose = fun(Fs) -> lists:foldl(fun(G, Acc) -> fun(X) -> G(Acc(X)) end end, fun(X) -> X end, Fs) end,
    t:p((Compose([fun(X) -> X + 1 end, fun(X) -> X * 2 end, fun integer_to_list/1]))(5)),
    L = fun local/1, t:p(L(4)), t:p((fun ?MODULE:main/0) =:= (fun ?MODULE:main/0)), t:p(L =:= fun local/1),
    [t:pc(G) || G <- [fun() -> (t:id(fun() -> 1 end))(1) end, fun() -> (t:id(fun(_) -> 1 end))() end, fun() -> (t:id(notfun))(1) end,
        fun() -> (fun nomod:nofun/1)(a) end, fun() -> apply(t:id(nomod), nofun, [1]) end, fun() -> apply(lists, t:id(1), []) end, fun() -> apply(lists, sum, t:id([a | b])) end,
        fun() -> (t:id(fun(1) -> one end))(2) end, fun() -> (t:id(fun local/1))(none) end, fun() -> (t:id(5)):foo() end]],
    t:p([(fun(X) when X > 1 -> big; (_) -> small end)(X) || X <- [1, 2]]).
local(N) when is_integer(N) -> N * 10.
