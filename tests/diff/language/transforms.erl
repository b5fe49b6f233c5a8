%% Parse transforms at run time: ets:fun2ms, qlc, one of our own, forms changed
%% and compiled.
-module(transforms).
-export([main/0, parse_transform/2, parse_transform_info/0]).
-include_lib("stdlib/include/ms_transform.hrl").
-include_lib("stdlib/include/qlc.hrl").
main() ->
    t:p(ets:fun2ms(fun({A, B}) when A > 1, is_atom(B) -> {B, A} end)), t:p(ets:fun2ms(fun({A, _} = O) when A rem 2 =:= 0; A =:= 1 -> [O, self()] end)), N = t:id(5), t:p(ets:fun2ms(fun({A, B, C}) when A + N > B andalso element(1, C) =:= x -> {N, C} end)), t:p(dbg:fun2ms(fun([X, Y]) when X > Y -> return_trace() end)),
    T = ets:new(x, [ordered_set]), ets:insert(T, [{I, I * I rem 7, lists:nth(1 + I rem 3, [a, b, c])} || I <- lists:seq(1, 30)]), t:p(qlc:e(qlc:q([{K, V} || {K, V, a} <- ets:table(T), V > 2]))), t:p(qlc:e(qlc:q([{X, Y} || X <- [1, 2, 3], Y <- [3, 2, 5], X =:= Y]))), t:p(qlc:fold(fun({K, _}, A) -> K + A end, 0, qlc:q([{K, V} || {K, V, _} <- ets:table(T)]))), t:p(qlc:eval(qlc:sort(qlc:q([V || {_, V, _} <- ets:table(T)], unique), {order, descending}))), t:p(qlc:e(qlc:q([{K1, K2} || {K1, 1, A1} <- ets:table(T), {K2, 2, A2} <- ets:table(T), A1 =:= A2]))), C = qlc:cursor(qlc:q([K || {K, _, b} <- ets:table(T)])), t:p(qlc:next_answers(C, 3)), t:p(qlc:next_answers(C, all_remaining)), qlc:delete_cursor(C), t:p(qlc:string_to_handle("[X || X <- [1,2,3], X > 1].") =/= x), t:p(qlc:e(qlc:string_to_handle("[X * 2 || X <- [1,2,3], X > 1].")) ), t:p(lists:flatten(qlc:info(qlc:q([X || X <- [c, a]]))) =/= ""),
    t:p(run("f(X) -> magic(X) + 1.", [{parse_transform, ?MODULE}])), t:p(run("f(X) -> {X, ?MODULE_}.", [{parse_transform, no_such_pt}])).
run(Src, Opts) ->
    Forms = forms("-module(m). -export([f/1]). " ++ lists:flatten(string:replace(Src, "?MODULE_", "m"))),
    case compile:forms(Forms, [return | Opts]) of {ok, m, Beam, W} -> {module, m} = code:load_binary(m, "m", Beam), {m:f(20), W}; {error, E, _} -> {error, [{M, D} || {_, Es} <- E, {_, M, D} <- Es]} end.
parse_transform_info() -> #{error_location => line}.
parse_transform(Forms, _) -> erl_syntax_like(Forms).
erl_syntax_like({call, A, {atom, _, magic}, [X]}) -> {op, A, '*', {integer, A, 2}, X};
erl_syntax_like(L) when is_list(L) -> [erl_syntax_like(X) || X <- L];
erl_syntax_like(T) when is_tuple(T) -> list_to_tuple(erl_syntax_like(tuple_to_list(T)));
erl_syntax_like(X) -> X.
forms(S) -> {ok, Ts, _} = erl_scan:string(S), parse(Ts, []).
parse([], []) -> [];
parse([T = {dot, _} | Ts], Acc) -> {ok, F} = erl_parse:parse_form(lists:reverse([T | Acc])), [F | parse(Ts, [])];
parse([T | Ts], Acc) -> parse(Ts, [T | Acc]).
