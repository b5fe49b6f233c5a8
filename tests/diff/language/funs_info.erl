%% erlang:fun_info, fun_to_list, is_function, comparing and exporting funs.
-module(funs_info).
-export([main/0]).
main() ->
    X = t:id(10), F = fun(A) -> A + X end, E = fun lists:map/2,
    t:p([erlang:fun_info(F, I) || I <- [module, arity, env, type]]), t:p([erlang:fun_info(E, I) || I <- [module, name, arity, env, type]]),
    t:p(element(1, erlang:fun_info(F, name))), t:p(lists:sort([K || {K, _} <- erlang:fun_info(F)])), t:p(lists:sort(erlang:fun_info(E))),
    t:p(E), t:p(erlang:fun_to_list(E)), t:p(fun 'odd name':'Fun'/3), t:p(is_function(F, 1)), t:p(is_function(E, 2)), t:p(is_function(E, 1)),
    G = fun(Y) -> fun() -> Y end end, t:p(G(1) =:= G(1)), t:p(G(1) =:= G(2)), t:p(G(1) < G(2)),
    t:p(erlang:make_fun(lists, map, 2) =:= E), t:p(E =:= binary_to_term(term_to_binary(E))), t:p((binary_to_term(term_to_binary(F)))(5)), t:p(binary_to_term(term_to_binary(F)) =:= F),
    t:p(term_to_binary(E)), t:p(erlang:function_exported(lists, map, 2)), t:p(erlang:function_exported(lists, nope, 2)), t:p(erlang:is_builtin(erlang, self, 0)), t:p(erlang:is_builtin(lists, map, 2)),
    t:pc(fun() -> is_function(F, t:id(-1)) end), t:pc(fun() -> is_function(F, t:id(a)) end), t:pc(fun() -> erlang:fun_info(t:id(a), arity) end), t:pc(fun() -> erlang:fun_info(F, t:id(bad)) end),
    t:pc(fun() -> erlang:make_fun(t:id(lists), map, 256) end), t:p(fun erlang:self/0).
