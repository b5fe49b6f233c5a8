%% erl_eval with local and other function handlers, bindings of all kinds.
-module(ev_handlers).
-export([main/0]).
main() ->
    {ok, T, _} = erl_scan:string("local(1) + X."), {ok, E} = erl_parse:parse_exprs(T),
    t:p(erl_eval:exprs(E, [{'X', 5}], {value, fun(local, [A]) -> A * 10 end})),
    t:p(erl_eval:exprs(E, #{'X' => 6}, {eval, fun(local, [{integer, _, A}], B) -> {value, A * 100, B} end})),
    t:p(t:c(fun() -> erl_eval:exprs(E, [{'X', 1}], none) end)), {ok, T2, _} = erl_scan:string("lists:reverse([Y])."), {ok, E2} = erl_parse:parse_exprs(T2),
    t:p(erl_eval:exprs(E2, [{'Y', 1}], none, {value, fun(F, A) -> {F, A} end})),
    t:p(erl_eval:expr({integer, 1, 5}, [])),
    t:p(erl_eval:expr_list([{atom, 1, a}, {var, 1, 'Z'}], [{'Z', z}])),
    t:p(erl_eval:exprs(E2, erl_eval:add_binding('Y', 2, erl_eval:new_bindings()))), B = erl_eval:del_binding('Y', erl_eval:add_binding('Y', 2, [])),
    t:p([B, erl_eval:binding('Y', [{'Y', 3}]), erl_eval:binding('Q', [])]),
    t:p(t:c(fun() -> erl_eval:exprs([], []) end)),
    t:p(erl_eval:is_constant_expr({tuple, 1, [{integer, 1, 1}]})).
