%% Funs in funs in funs: what they close over, compare, call themselves.
-module(lang_closures_deep).
-export([main/0]).
-export([add/2]).
main() ->
    A = 1, F = fun(B) -> fun(C) -> fun(D) -> {A, B, C, D} end end end,
    t:p(((F(2))(3))(4)), G = F(2),
    t:p({G =:= F(2), G == F(3), G < F(3)}),
    t:p([element(2, erlang:fun_info(X, env)) || X <- [G, G(5)]]),
    t:p(lists:map(fun(X) -> X(1) end, [fun(X) -> X + N end || N <- [1, 2, 3]])), Y = fun(H) -> (fun(X) -> X(X) end)(fun(X) -> H(fun(Z) -> (X(X))(Z) end) end) end,
    t:p((Y(fun(Self) -> fun(0) -> 1; (N) -> N * Self(N - 1) end end))(20)), Fib = fun Fi(N) when N < 2 -> N; Fi(N) -> Fi(N - 1) + Fi(N - 2) end,
    t:p(Fib(15)),
    t:p([(fun ?MODULE:add/2)(1, 2), apply(fun add/2, [3, 4]), (fun add/2 =:= fun add/2), fun add/2 =:= fun ?MODULE:add/2]), M = lists, Fn = reverse,
    t:p((fun M:Fn/1)([1, 2])),
    t:p(compose([fun(X) -> X * 2 end, fun(X) -> X + 1 end, fun integer_to_list/1], 5)),
    t:p(catch (fun(X) when X > 1 -> X end)(0)),
    t:p(begin {'EXIT', {R, _}} = (catch (fun(X) when X > 1 -> X end)(t:id(0))), t:plain(R) end),
    t:p(is_function(fun add/2, 2)),
    t:p(curry(fun(X, Z, W) -> [X, Z, W] end)).
add(A, B) -> A + B.
compose(Fs, X) -> lists:foldl(fun(F, A) -> F(A) end, X, Fs).
curry(F) -> ((fun(A) -> fun(B) -> fun(C) -> F(A, B, C) end end end(1))(2))(3).
