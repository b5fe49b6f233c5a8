%% Random functions, compiled and run on random arguments, against erl_eval's
%% answers for the same expressions: arithmetic, comparisons, data, cases, funs.
-module(prop_compile_expr).
-export([main/0]).
-define(A, erl_anno:new(1)).
main() ->
    g:seed(21),
    [batch(R) || R <- lists:seq(1, 3)].

%% Forty functions in a module, each called with five lists of arguments.
batch(R) ->
    Exprs = [{list_to_atom("f" ++ integer_to_list(I)), expr(4, [a, b, c])} || I <- lists:seq(1, 40)],
    Vars = [{var, ?A, V} || V <- ['A', 'B', 'C']],
    Forms = [{attribute, ?A, module, pce}, {attribute, ?A, compile, export_all} | [{function, ?A, F, 3, [{clause, ?A, Vars, [], [E]}]} || {F, E} <- Exprs]],
    {ok, pce, Beam} = compile:forms(Forms, [nowarn_unused_vars]),
    {module, pce} = code:load_binary(pce, "pce", Beam),
    Rs = [begin Args = [arg(), arg(), arg()], answers(F, E, Args) end || {F, E} <- Exprs, _ <- lists:seq(1, 5)],
    code:purge(pce), code:delete(pce), code:purge(pce),
    t:p(R, {g:digest(Rs), length([x || {error, _} <- Rs])}).

answers(F, E, [A, B, C] = Args) ->
    Compiled = strip(t:c(fun() -> apply(pce, F, Args) end)),
    {value, Evaluated, _} = erl_eval:expr({'try', ?A, [E], [], [clause_(error), clause_(throw)], []}, [{'A', A}, {'B', B}, {'C', C}]),
    case same(Compiled, strip(Evaluated)) of
        true -> ok;
        false -> io:format("~s~n~p: ~p against ~p~n", [erl_pp:expr(E), Args, Compiled, Evaluated])
    end,
    Compiled.

clause_(Class) -> {clause, ?A, [{tuple, ?A, [{atom, ?A, Class}, {var, ?A, 'R__'}, {var, ?A, '_'}]}], [], [{tuple, ?A, [{atom, ?A, Class}, {var, ?A, 'R__'}]}]}.

%% Which of two errors comes first in an expression is the compiler's choice.
same({error, _}, {error, _}) -> true;
same(X, Y) -> X =:= Y.
strip({error, {badmap, _}}) -> {error, badmap};
strip({error, {K, _}}) -> {error, K};
strip(F) when is_function(F) -> fun_;
strip(X) -> X.

arg() -> case g:int(5) of 0 -> g:integer(); 1 -> g:small(); 2 -> g:float(); 3 -> g:one([true, false, [], [1, 2], {1, 2, 3}, #{1 => 2}, <<1, 2>>, a]); 4 -> g:int(10) end.

expr(0, _) -> leaf();
expr(D, S) ->
    E = fun() -> expr(D - 1, S) end,
    case g:int(18) of
        N when N < 5 -> {op, ?A, g:one(['+', '-', '*', '+', '-']), E(), E()};
        5 -> {op, ?A, g:one(['div', 'rem', '/']), E(), E()};
        6 -> {op, ?A, g:one(['band', 'bor', 'bxor']), E(), E()};
        7 -> {op, ?A, g:one(['bsl', 'bsr']), E(), {integer, ?A, g:int(70)}};
        8 -> {op, ?A, g:one(['<', '>', '=<', '>=', '==', '=:=', '/=', '=/=']), E(), E()};
        9 -> {op, ?A, g:one(['-', 'bnot', 'not', '+']), E()};
        10 -> {op, ?A, g:one(['andalso', 'orelse']), cmp(D - 1, S), E()};
        11 -> {'case', ?A, E(), [{clause, ?A, [{var, ?A, '_'}], [[guard(D - 1)]], [E()]}, {clause, ?A, [pat()], [], [E()]}, {clause, ?A, [{var, ?A, '_'}], [], [E()]}]};
        12 -> {'if', ?A, [{clause, ?A, [], [[guard(D - 1)], [guard(1)]], [E()]}, {clause, ?A, [], [[{atom, ?A, true}]], [E()]}]};
        13 -> {tuple, ?A, [E(), E()]};
        14 -> {cons, ?A, E(), E()};
        15 -> call(g:one([abs, trunc, round, float, element, tuple_size, hd, tl, length, size, is_integer, is_float, max, min, is_list, map_size, byte_size, ceil, floor]), E);
        16 -> {call, ?A, {'fun', ?A, {clauses, [{clause, ?A, [{var, ?A, 'X__'}], [], [{op, ?A, '+', {var, ?A, 'X__'}, leaf()}]}]}}, [E()]};
        17 -> {map, ?A, [{map_field_assoc, ?A, leaf(), E()}]}
    end.

cmp(D, S) -> {op, ?A, g:one(['<', '>', '=:=', '==']), expr(D, S), leaf()}.
call(F, E) when F =:= max; F =:= min; F =:= element -> {call, ?A, {atom, ?A, F}, [case F of element -> {integer, ?A, 1 + g:int(3)}; _ -> E() end, E()]};
call(F, E) -> {call, ?A, {atom, ?A, F}, [E()]}.
leaf() -> case g:int(6) of 0 -> {integer, ?A, abs(g:integer())}; 1 -> {integer, ?A, g:int(5)}; 2 -> {float, ?A, abs(g:float())}; _ -> {var, ?A, g:one(['A', 'B', 'C'])} end.
guard(0) -> {call, ?A, {atom, ?A, g:one([is_integer, is_float, is_list, is_tuple, is_number, is_atom, is_binary, is_map])}, [leaf()]};
guard(D) ->
    case g:int(5) of
        0 -> {op, ?A, g:one(['and', 'or', 'andalso', 'orelse']), guard(D - 1), guard(D - 1)};
        1 -> {op, ?A, 'not', guard(D - 1)};
        2 -> {op, ?A, g:one(['<', '>', '=:=', '==', '=/=']), leaf(), {op, ?A, g:one(['+', '*', '-', 'rem', 'band']), leaf(), leaf()}};
        3 -> {op, ?A, g:one(['<', '>=', '=:=']), {call, ?A, {atom, ?A, g:one([abs, length, hd, tuple_size, map_size, round])}, [leaf()]}, leaf()};
        4 -> guard(0)
    end.
pat() -> g:one([{integer, ?A, 1}, {float, ?A, 1.0}, {atom, ?A, true}, {tuple, ?A, [{var, ?A, '_'}, {var, ?A, '_'}]}, {cons, ?A, {var, ?A, '_'}, {var, ?A, '_'}}, {nil, ?A}, {map, ?A, [{map_field_exact, ?A, {integer, ?A, 1}, {var, ?A, '_'}}]}, {integer, ?A, 1 bsl 70}]).
