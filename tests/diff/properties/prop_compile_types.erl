%% Random clauses over random terms: tuples, lists, maps and literals in patterns,
%% compiled with and without optimisations, all three answers the same.
-module(prop_compile_types).
-export([main/0]).
-define(A, erl_anno:new(1)).
main() ->
    g:seed(23),
    [batch(R) || R <- lists:seq(1, 2)].

batch(R) ->
    Fs = [{list_to_atom("f" ++ integer_to_list(I)), [clause_(N) || N <- lists:seq(1, 2 + g:int(8))] ++ [{clause, ?A, [{var, ?A, '_'}], [], [{atom, ?A, none}]}]} || I <- lists:seq(1, 20)],
    Ms = [{M, O} || {M, O} <- [{pct1, []}, {pct2, [no_copt, no_bool_opt, no_share_opt, no_type_opt, no_ssa_opt, no_bsm_opt]}, {pct3, [no_postopt, inline]}]],
    [begin
         Forms = [{attribute, ?A, module, M}, {attribute, ?A, compile, export_all} | [{function, ?A, F, 1, Cs} || {F, Cs} <- Fs]],
         {ok, M, Beam} = compile:forms(Forms, [nowarn_unused_vars | O]),
         {module, M} = code:load_binary(M, "x", Beam)
     end || {M, O} <- Ms],
    Rs = [begin X = value(3), [A | As] = [M:F(X) || {M, _} <- Ms], lists:all(fun(B) -> B =:= A end, As) orelse io:format("~p ~p~n", [F, {X, A, As}]), A end || {F, _} <- Fs, _ <- lists:seq(1, 40)],
    [begin code:purge(M), code:delete(M), code:purge(M) end || {M, _} <- Ms],
    t:p(R, {g:digest(Rs), length([x || none <- Rs])}).

clause_(N) ->
    {P, Vars} = pat(3, []),
    G = case g:int(3) of
            0 when Vars =/= [] -> [[{call, ?A, {atom, ?A, g:one([is_integer, is_atom, is_list, is_tuple, is_map, is_float])}, [{var, ?A, g:one(Vars)}]}]];
            1 when Vars =/= [] -> [[{op, ?A, g:one(['>', '<', '=:=', '==']), {var, ?A, g:one(Vars)}, lit()}]];
            _ -> []
        end,
    {clause, ?A, [P], G, [{tuple, ?A, [{integer, ?A, N} | [{var, ?A, V} || V <- lists:sublist(Vars, 4)]]}]}.

pat(0, Vs) -> var(Vs);
pat(D, Vs) ->
    case g:int(8) of
        0 -> {lit(), Vs};
        1 -> {A, V1} = pat(D - 1, Vs), {B, V2} = pat(D - 1, V1), {{tuple, ?A, [A, B]}, V2};
        2 -> {A, V1} = pat(D - 1, Vs), {{tuple, ?A, [lit(), A]}, V1};
        3 -> {A, V1} = pat(D - 1, Vs), {B, V2} = pat(D - 1, V1), {{cons, ?A, A, B}, V2};
        4 -> {A, V1} = pat(D - 1, Vs), {{map, ?A, [{map_field_exact, ?A, lit(), A}]}, V1};
        5 -> {A, V1} = pat(D - 1, Vs), {B, V2} = var(V1), {{match, ?A, B, A}, V2};
        6 -> case Vs of [] -> var(Vs); _ -> {{var, ?A, g:one(Vs)}, Vs} end;
        7 -> var(Vs)
    end.
var(Vs) -> V = list_to_atom("V" ++ integer_to_list(length(Vs))), {{var, ?A, V}, [V | Vs]}.
lit() -> case g:int(7) of 0 -> {integer, ?A, g:int(4)}; 1 -> {atom, ?A, g:one([a, b, true, false])}; 2 -> {float, ?A, g:one([1.0, 0.0, 2.5])}; 3 -> {nil, ?A}; 4 -> {integer, ?A, 1 bsl 64}; 5 -> {tuple, ?A, []}; 6 -> {string, ?A, g:one(["a", "ab"])} end.

value(0) -> case g:int(6) of 0 -> g:int(4); 1 -> g:one([a, b, true, false]); 2 -> g:one([1.0, 0.0, 2.5]); 3 -> []; 4 -> 1 bsl 64; 5 -> g:one(["a", "ab", {}]) end;
value(D) -> case g:int(5) of 0 -> {value(D - 1), value(D - 1)}; 1 -> [value(D - 1) | value(D - 1)]; 2 -> #{value(0) => value(D - 1), value(0) => value(D - 1)}; 3 -> X = value(D - 1), {X, X}; 4 -> value(0) end.
