%% erl_eval: expressions from text, with bindings, functions of its own and errors.
-module(rt_eval).
-export([main/0]).
main() ->
    [t:p(S, eval(S)) || S <- [
        "1 + 2 * 3 - 7 div 2.", "X = 3, Y = X * X, {X, Y}.", "[A || A <- lists:seq(1, 10), A rem 3 =:= 0].", "<< <<(X * 2)>> || <<X>> <= <<1, 2, 3>> >>.",
        "F = fun(0) -> 1; (N) -> N * 2 end, {F(0), F(4)}.", "Fact = fun G(0) -> 1; G(N) -> N * G(N - 1) end, Fact(20).", "case {a, 5} of {a, N} when N > 3 -> big; {a, _} -> small end.",
        "if 1 > 2 -> a; true -> b end.", "try error(foo) catch error:R -> {caught, R} end.", "try throw(1) of X -> X catch throw:Y:S -> {Y, is_list(S)} after ok end.",
        "catch exit(bye).", "#{a => 1, b => #{c => 2}}.", "M = #{a => 1}, M#{a := 2, c => 3}.", "#{a := V} = #{a => 7}, V.", "<<A:4, B/bits>> = <<16#AB, 3>>, {A, B}.",
        "begin Z = 1, Z + 1 end.", "self() ! hi, receive M -> M after 10 -> none end.", "receive after 1 -> timeout end.", "1 / 0.", "{a, X} = {b, 1}.", "undefined_fun(1).", "foo:bar(1, 2).",
        "hd([]).", "if false -> 1 end.", "case 1 of 2 -> 3 end.", "(fun(X) when X > 1 -> X end)(0).", "not true and false.", "true andalso 1.", "1 andalso true.", "X.", "fun lists:reverse/1.",
        "(fun lists:reverse/1)([1, 2]).", "lists:map(fun(X) -> X + 1 end, [1, 2, 3]).", "\"abc\" ++ [$d].", "[1, 2, 3] -- [2].", "$a.", "16#ff.", "1.5e3.", "'quoted atom'.", "{1, {2, [3 | 4]}}.",
        "is_function(fun(A, B) -> A + B end, 2).", "element(2, {a, b}).", "[{X, Y} || X <- [1, 2], Y <- [a, b]].", "[X || {ok, X} <- [{ok, 1}, error, {ok, 2}]].", "maps:map(fun(_, V) -> V * 2 end, #{x => 1}).",
        "apply(erlang, '+', [1, 2]).", "spawn(fun() -> ok end), done.", "E = fun() -> error({my, E1}) end.", "[H | T] = [1, 2, 3], {H, T}.", "\"pre\" ++ Rest = \"prefix\", Rest.", "-(-3).", "bnot 5.", "5 bsl 70.", "a =:= a."]],
    {ok, Ts, _} = erl_scan:string("X + Y."), {ok, Es} = erl_parse:parse_exprs(Ts),
    t:p(erl_eval:exprs(Es, [{'X', 1}, {'Y', 2}])), t:p(erl_eval:exprs(Es, #{'X' => 10, 'Y' => 5})),
    {ok, Ts2, _} = erl_scan:string("local(1, 2) + ext:call(3)."), {ok, Es2} = erl_parse:parse_exprs(Ts2),
    t:p(erl_eval:exprs(Es2, [], {value, fun(N, As) -> length([N | As]) end}, {value, fun({M, F}, As) -> length([M, F | As]) * 10 end})),
    t:p(erl_eval:expr_list([{integer, 1, 5}, {atom, 1, x}], [])), t:p(erl_eval:add_binding('A', 1, erl_eval:new_bindings())),
    t:p(erl_eval:is_constant_expr({tuple, 1, [{integer, 1, 2}]})),
    t:p(stack_of("lists:map(fun(X) -> X + a end, [1]).")).

eval(S) ->
    {ok, Ts, _} = erl_scan:string(S),
    {ok, Es} = erl_parse:parse_exprs(Ts),
    try erl_eval:exprs(Es, []) of
        {value, V, Bs} -> {V, length(Bs)}
    catch C:R -> {C, R} end.

stack_of(S) ->
    {ok, Ts, _} = erl_scan:string(S), {ok, Es} = erl_parse:parse_exprs(Ts),
    try erl_eval:exprs(Es, []) catch C:R:St -> {C, R, [{M, F, case A of _ when is_list(A) -> length(A); _ -> A end} || {M, F, A, _} <- St, M =/= init, M =/= ?MODULE]} end.
