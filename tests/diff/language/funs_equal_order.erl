%% Funs: equality, order, hashing, printing, external forms, after sending and storing.
-module(funs_equal_order).
-export([main/0]).
main() ->
    F = fun(N) -> fun(X) -> {N, X} end end, A = F(1), B = F(1), C = F(2),
    t:p([A =:= B, A == C, A < C, erlang:phash2(A) =:= erlang:phash2(B), A(0), C(0)]), E = fun lists:map/2,
    t:p([E =:= fun lists:map/2, E =:= fun lists:map/3, fun a:b/1 < fun a:b/2, fun a:b/1 < fun b:a/1, lists:sort([fun z:z/0, fun a:z/9, fun a:a/10])]),
    t:p([lists:sort([A, E, 1, a, make_tuple, {}, [], #{}, <<>>]) =/= x, A < {}, A > a, E > a, A < E]), S = self(), spawn(fun() -> S ! {f, F(1)} end),
    t:p(receive {f, G} -> {G =:= A, G(x)} end), T = ets:new(t, []), ets:insert(T, [{A, 1}, {C, 2}, {E, 3}]),
    t:p([ets:lookup(T, X) =/= [] || X <- [B, F(2), fun lists:map/2, F(3)]]),
    t:p([binary_to_term(term_to_binary(X)) =:= X || X <- [A, C, E]]),
    t:p((binary_to_term(term_to_binary(C)))(y)), M = #{A => a, E => e},
    t:p([maps:get(B, M), maps:get(fun lists:map/2, M), maps:is_key(C, M)]),
    t:p([erlang:fun_to_list(E), hd(erlang:fun_to_list(A)), io_lib:format("~p ~w", [E, fun 'a b':'C'/2])]),
    t:p([lists:keyfind(K, 1, erlang:fun_info(E)) || K <- [module, name, arity, env, type]]),
    t:p([lists:keyfind(K, 1, erlang:fun_info(A)) || K <- [module, arity, env, type]]),
    t:p(lists:sort([K || {K, _} <- erlang:fun_info(A)])),
    t:p([erlang:fun_info_mfa(A) =/= x, is_function(A), is_function(A, 1), is_function(A, 2), is_function(E, 2), is_function({a, b})]),
    m:f(erlang, fun_info, [[E, a], [module, bad, env, uniq, index, new_index, refc, pid]]),
    m:f(erlang, make_fun, [[lists, 1], [map, "x"], [2, -1, 255, 256, a]]), [t:pc(X, fun() -> is_function(A, X) end) || X <- [-1, 256, a, 1.0]],
    t:p(term_to_binary(E)),
    t:p(catch (binary_to_term(term_to_binary(fun nomod:nofun/3)))(1)), [t:pc(X, fun() -> apply(X, [1]) end) || X <- [A, E, {lists, map}, a]],
    t:p([element(1, erlang:fun_info(fun() -> X1 end, env)) || X1 <- [1]]),
    t:p((fun(X2) when X2 > 1 -> big; (_) -> small end)(2)),
    t:p([erts_debug:same(A, A), length(lists:usort([F(I rem 3) || I <- lists:seq(1, 9)]))]).
