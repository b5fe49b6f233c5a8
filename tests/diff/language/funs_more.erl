%% Funs: equality, order, hashes, environments, recursion, captured exceptions,
%% through messages, tables and the external format.
-module(funs_more).
-export([main/0, ext/1]).
main() ->
    F = make(1), G = make(1), H = make(2), E = fun ?MODULE:ext/1,
    t:p([F =:= G, F == H, F =:= F, E =:= fun ?MODULE:ext/1, E =:= fun ext/1, F < H, H > F, is_function(E)]), t:p([erlang:phash2(F) =:= erlang:phash2(G), erlang:phash2(F) =:= erlang:phash2(H), erlang:phash2(E)]),
    t:p([X(10) || X <- [F, H, E]]), t:p([element(2, erlang:fun_info(F, K)) || K <- [module, arity, type, env]]), t:p([element(2, erlang:fun_info(E, K)) || K <- [module, name, arity, type, env]]), t:p(lists:sort([F, a, 1, E, {}, "x", <<>>, #{}]) =:= [1, a] ++ lists:sort([F, E]) ++ [{}, #{}, "x", <<>>]),
    F2 = binary_to_term(term_to_binary(F)), t:p({F2(5), F2 =:= F, F2 == F}), E2 = binary_to_term(term_to_binary(E)), t:p({E2(5), E2 =:= E}), T = ets:new(x, []), ets:insert(T, {F, 1}), t:p(ets:lookup(T, G)), ets:insert(T, {k, H}), [{k, H2}] = ets:lookup(T, k), t:p(H2(1)),
    S = self(), spawn(fun() -> receive Fun -> S ! Fun(100) end end) ! F, t:p(receive M -> M end), t:p((counter())()), Fact = fun Fa(0) -> 1; Fa(N) -> N * Fa(N - 1) end, t:p(Fact(25)), Fib = fun(Self, N) when N < 2 -> N; (Self, N) -> Self(Self, N - 1) + Self(Self, N - 2) end, t:p(Fib(Fib, 15)),
    t:p(compose([fun(X) -> X + 1 end, fun(X) -> X * 2 end, fun integer_to_list/1])), t:p([(curry(3))(I) || I <- [1, 2]]), t:p(t:c(fun() -> (make(1))() end)), t:p(t:c(fun() -> (fun(X) when X > 5 -> X end)(1) end)), t:p(t:st(fun() -> lists:map(fun(X) -> 1 / X end, [1, 0]) end)),
    t:p([Fn() || Fn <- [fun() -> N end || N <- lists:seq(1, 5)]]), t:p(big_env()), t:p(maps:get(F, #{G => found})), t:p(is_function(F, 1)), t:p(is_function(F, 2)), t:p(erlang:fun_to_list(E)), t:p([is_list(erlang:fun_to_list(F)), io_lib:format("~p ~w", [E, E])]),
    {module, M1} = erlang:fun_info(F, module), t:p(M1), {name, Nm} = erlang:fun_info(F, name), t:p(Nm), t:p(length(erlang:fun_info(F))), t:p(lists:sort([K || {K, _} <- erlang:fun_info(F)])), t:p(lists:sort([K || {K, _} <- erlang:fun_info(E)])), t:p(element(2, erlang:fun_info(F, pid)) =:= self()), t:p(erlang:fun_info(fun nope:nope/3)),
    t:p(lists:foldl(fun(X, {A, B}) -> {X + A, X * B} end, {0, 1}, lists:seq(1, 10))), t:p(lists:sort(fun(A, B) -> A >= B end, [3, 1, 2])), t:p(apply(fun(A, B, C) -> {C, B, A} end, [1, 2, 3])), t:p(y(fun(Self) -> fun(0) -> 0; (N) -> N + Self(N - 1) end end, 100)).
make(N) -> fun(X) -> X + N end.
ext(X) -> {ext, X}.
counter() -> C = counters:new(1, []), fun() -> counters:add(C, 1, 1), counters:get(C, 1) end.
compose(Fs) -> lists:foldl(fun(F, X) -> F(X) end, 5, Fs).
curry(A) -> fun(B) -> fun(C) -> A + B + C end(B) end.
big_env() -> A = t:id(1), B = t:id(2), C = t:id(3), D = t:id(4), E = t:id(5), F = t:id(6), G = t:id(7), H = t:id(8), Fn = fun(X) -> fun(Y) -> [X, Y, A, B, C, D, E, F, G, H] end end, garbage_collect(), (Fn(x))(y).
y(F, N) -> (F(fun(X) -> y(F, X) end))(N).
