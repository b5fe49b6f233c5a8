%% Random binary patterns and constructions, compiled and run against erl_eval.
-module(prop_compile_bits).
-export([main/0]).
-define(A, erl_anno:new(1)).
main() ->
    g:seed(22),
    [batch(R) || R <- lists:seq(1, 3)].

batch(R) ->
    Fs = [{list_to_atom("f" ++ integer_to_list(I)), clauses()} || I <- lists:seq(1, 30)],
    Bs = [{list_to_atom("b" ++ integer_to_list(I)), {bin, ?A, builds(1 + g:int(4))}} || I <- lists:seq(1, 30)],
    Vars = [{var, ?A, V} || V <- ['V', 'W', 'B']],
    Forms = [{attribute, ?A, module, pcb}, {attribute, ?A, compile, export_all} | [{function, ?A, F, 2, [{clause, ?A, [{var, ?A, 'Bin'}, {var, ?A, 'S'}], [], [case_(Cs)]}]} || {F, Cs} <- Fs] ++ [{function, ?A, F, 3, [{clause, ?A, Vars, [], [E]}]} || {F, E} <- Bs]],
    {ok, pcb, Beam} = compile:forms(Forms, [nowarn_unused_vars]),
    {module, pcb} = code:load_binary(pcb, "pcb", Beam),
    Rs = [matches(F, Cs, g:bits(120)) || {F, Cs} <- Fs, _ <- lists:seq(1, 8)],
    Qs = [builds(F, E, g:one([g:integer(), g:small(), g:float()]), g:int(40), g:bits(64)) || {F, E} <- Bs, _ <- lists:seq(1, 6)],
    code:purge(pcb), code:delete(pcb), code:purge(pcb),
    t:p(R, {g:digest(Rs), g:digest(Qs), length([x || {error, _} <- Qs]), length([x || none <- Rs])}).

matches(F, Cs, Bin) ->
    S = g:int(20), C = pcb:F(Bin, S),
    {value, E, _} = erl_eval:expr(case_(Cs), [{'Bin', Bin}, {'S', S}]),
    C =:= E orelse io:format("~p~n~p ~p: ~p against ~p~n", [Cs, Bin, S, C, E]),
    C.
builds(F, Ex, V, W, B) ->
    C = strip(t:c(fun() -> pcb:F(V, W, B) end)),
    E = strip(t:c(fun() -> {value, X, _} = erl_eval:expr(Ex, [{'V', V}, {'W', W}, {'B', B}]), X end)),
    C =:= E orelse io:format("~s~n~p: ~p against ~p~n", [erl_pp:expr(Ex), {V, W, B}, C, E]),
    C.
strip({error, {K, _}}) -> {error, K};
strip(X) -> X.

clauses() ->
    [begin {Segs, Vars} = segs(1 + g:int(5), 1, []), {clause, ?A, [{bin, ?A, Segs}], guard(Vars), [{tuple, ?A, [{integer, ?A, I} | [{var, ?A, V} || V <- lists:reverse(Vars)]]}]} end || I <- lists:seq(1, 1 + g:int(3))]
        ++ [{clause, ?A, [{var, ?A, '_'}], [], [{atom, ?A, none}]}].
case_(Cs) -> {'case', ?A, {var, ?A, 'Bin'}, Cs}.
guard([V | _]) -> case g:int(3) of 0 -> [[{op, ?A, g:one(['<', '>']), {var, ?A, V}, {integer, ?A, g:int(100)}}]]; _ -> [] end.

segs(0, _, Vars) -> {[{bin_element, ?A, {var, ?A, 'Rest'}, default, [bitstring]}], ['Rest' | Vars]};
segs(N, I, Vars) ->
    V = list_to_atom("X" ++ integer_to_list(I)), Var = {var, ?A, V}, Size = size_(),
    {Seg, New} =
        case g:int(10) of
            K when K < 4 -> {{bin_element, ?A, Var, Size, flags()}, [V]};
            4 -> {{bin_element, ?A, Var, {integer, ?A, g:int(3)}, [binary]}, [V]};
            5 -> {{bin_element, ?A, Var, Size, [bitstring]}, [V]};
            6 -> {{bin_element, ?A, {integer, ?A, g:int(4)}, {integer, ?A, 1 + g:int(3)}, default}, []};
            7 -> {{bin_element, ?A, Var, default, [g:one([utf8, utf8, utf16])]}, [V]};
            8 -> {{bin_element, ?A, {var, ?A, '_'}, Size, default}, []};
            9 -> {{bin_element, ?A, Var, {integer, ?A, g:one([16, 32, 64])}, [float | g:one([[little], []])]}, [V]}
        end,
    {Segs, All} = segs(N - 1, I + 1, New ++ Vars),
    {[Seg | Segs], All}.
size_() -> case g:int(5) of 0 -> {var, ?A, 'S'}; 1 -> {op, ?A, '*', {var, ?A, 'S'}, {integer, ?A, 2}}; 2 -> {integer, ?A, g:int(70)}; _ -> {integer, ?A, 1 + g:int(16)} end.
flags() -> g:one([default, [little], [signed], [signed, little], [unsigned, big]]).

builds(0) -> [];
builds(N) ->
    V = {var, ?A, 'V'}, W = {var, ?A, 'W'}, B = {var, ?A, 'B'},
    Seg = case g:int(9) of
              K when K < 4 -> {bin_element, ?A, g:one([V, W, W]), g:one([{integer, ?A, g:int(70)}, W]), flags()};
              4 -> {bin_element, ?A, B, default, [bitstring]};
              5 -> {bin_element, ?A, B, {integer, ?A, g:int(12)}, [bitstring]};
              6 -> {bin_element, ?A, W, default, [g:one([utf8, utf16, utf32])]};
              7 -> {bin_element, ?A, g:one([V, W]), {integer, ?A, g:one([16, 32, 64])}, [float]};
              8 -> {bin_element, ?A, {string, ?A, "ab"}, default, default}
          end,
    [Seg | builds(N - 1)].
