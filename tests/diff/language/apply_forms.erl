%% The ways to call: apply, module and function from variables, external funs,
%% spawned calls, and what each says when it cannot.
-module(apply_forms).
-export([main/0, f/0, f/1, f/2, many/10]).
main() ->
    M = t:id(?MODULE), F = t:id(f), L = t:id(lists),
    t:p([M:F(), M:F(1), ?MODULE:F(1, 2), M:f(3), apply(M, F, [a, b]), apply(fun f/1, [x]), apply(L, reverse, [[1, 2]])]),
    t:p((fun ?MODULE:f/1)(q)), G = fun M:F/2, t:p(G(1, 2)), t:p(erlang:apply(G, [3, 4])), t:p(M:many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)),
    t:p(apply(M, many, lists:seq(1, 10))), H = fun many/10, t:p(H(a, b, c, d, e, f, g, h, i, j)),
    [t:p(t:st(X)) || X <- [fun() -> M:no_such() end, fun() -> apply(M, no_such, [1]) end, fun() -> (t:id(nomod)):F(1) end, fun() -> apply(t:id(1), f, []) end, fun() -> apply(M, t:id("f"), []) end,
                           fun() -> apply(M, F, t:id([1 | 2])) end, fun() -> apply(M, F, t:id(x)) end, fun() -> (t:id(not_fun))(1) end, fun() -> (t:id({M, F}))(1) end, fun() -> (fun f/1)(1, 2) end,
                           fun() -> G(1) end, fun() -> apply(G, [1]) end, fun() -> apply(G, t:id(foo)) end, fun() -> (fun nomod:nofun/1)(1) end, fun() -> apply(t:id(fun(A) -> A end), [1, 2]) end,
                           fun() -> M:F(lists:seq(1, 3), b, c) end, fun() -> (t:id(1)):(t:id(2))() end]],
    t:p([is_function(X, N) || X <- [G, fun f/0, fun() -> 1 end, f], N <- [0, 2]]),
    t:p([erlang:fun_info(G, I) || I <- [module, name, arity, type, env]]),
    t:p([apply(erlang, Op, As) || {Op, As} <- [{'+', [1, 2]}, {'++', [[1], [2]]}, {'=:=', [a, a]}, {'not', [true]}, {'!', [self(), me]}, {'div', [7, 2]}, {element, [1, {z}]}, {'and', [true, false]}, {'bsl', [1, 70]}, {'-', [5]}]]),
    t:p(receive me -> got after 0 -> none end),
    t:p(lists:map(fun erlang:abs/1, [-1, 2])), t:p(lists:foldl(fun erlang:'+'/2, 0, [1, 2, 3])), t:p(deep(100000, M, 0)).
f() -> f0.
f(A) -> {f1, A}.
f(A, B) -> {f2, A, B}.
many(A, B, C, D, E, F, G, H, I, J) -> {J, I, H, G, F, E, D, C, B, A}.
deep(0, _, N) -> N;
deep(K, M, N) -> apply(fun(A, B, C) -> deep(A, B, C) end, [K - 1, M, N + 1]).
