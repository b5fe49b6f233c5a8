%% The compiler at run time: forms to code, errors and warnings as terms.
-module(rt_compile).
-export([main/0]).
main() ->
    [t:p(try_forms(S)) || S <- [
        "f(X) -> X + 1.", "f(X) -> Y.", "f(X) -> 1. g() -> h().", "f(X, X) -> same; f(_, _) -> other.", "f() -> {A, A} = {1, 2}.",
        "f(1) -> a; g(2) -> b.", "f(X) when foo(X) -> X.", "f() -> case 1 of X -> X; Y -> Y end.", "f() -> receive after infinity -> ok end.",
        "f() -> 1/0.", "f(X) -> if X -> 1 end.", "f() -> #r{}.", "f() -> <<1:a>>.", "f() -> erlang:nif_error(x).", "f() -> lists:foo().",
        "f() -> try 1 of X -> X after Z = 2 end, Z.", "f(#{a := X}) -> X; f(#{b := X, c := Y}) -> {X, Y}.", "f() -> [X || X <- [1, 2], X > 1].",
        "f() -> fun(X) -> fun g/1 end.", "f() -> X = 1, fun(X) -> X end.", "f() -> catch throw(1).", "-spec f() -> foo(). f() -> 1.", "-export([g/0]). f() -> 1.",
        "f() -> f. f() -> g.", "-import(lists, [map/2]). f() -> map(fun(X) -> X end, []).", "f() -> begin X = 1 end, X.", "f() -> _ = _ , 1.", "f() -> _."]],
    [t:p(run(S, A)) || {S, A} <- [
        {"f(X) -> [Y * Y || Y <- X, Y rem 2 =:= 1].", [[1, 2, 3]]}, {"f(X) -> case X of {a, [H | _]} when H > 3 -> H; #{k := V} -> V; <<A:4, B:4>> -> {A, B}; _ -> none end.", [<<16#57>>]},
        {"f(N) when N < 2 -> N; f(N) -> f(N - 1) + f(N - 2).", [20]}, {"f(X) -> try error(X) catch C:R -> {C, R} after put(k, X) end.", [boom]},
        {"f(X) -> Self = self(), spawn(fun() -> Self ! {got, X} end), receive {got, Y} -> Y after 1000 -> late end.", [z]}]],
    {ok, m, B1} = compile:forms(forms("f(X) -> X."), [deterministic]), {ok, m, B2} = compile:forms(forms("f(X) -> X."), [deterministic]),
    t:p({B1 =:= B2, code:module_md5(B1) =:= code:module_md5(B2)}),
    {ok, m, Core} = compile:forms(forms("f(X) -> {X, 1}."), [to_core]), t:p(element(1, Core)),
    {ok, m, S} = compile:forms(forms("f(X) -> {X, 1}."), ['S']), t:p({lists:sort(element(2, S)), length(element(tuple_size(S) - 1, S))}),
    {ok, [], Exp} = compile:forms(forms("-record(r, {a = 1, b}). f(X) -> X#r{b = 2}."), ['E']), t:p(length(Exp)),
    t:p(compile:env_compiler_options()).

try_forms(S) ->
    try compile:forms(forms(S), [return, export_all, nowarn_export_all, strong_validation]) of
        {ok, m, W} -> {ok, strip(W)};
        {ok, m, _, W} -> {ok, strip(W)};
        {error, E, W} -> {error, strip(E), strip(W)}
    catch error:{badmatch, {error, {_, M, What}}} -> {no_parse, lists:flatten(M:format_error(What))} end.

strip(L) -> [{Where, M, What, lists:flatten(M:format_error(What))} || {_, Es} <- L, {Where, M, What} <- Es].

run(S, Args) ->
    {ok, m, Beam} = compile:forms(forms(S), [export_all, nowarn_export_all]),
    {module, m} = code:load_binary(m, "m.erl", Beam),
    R = apply(m, f, Args), code:purge(m), code:delete(m), code:purge(m), R.

forms(S) ->
    {ok, Ts, _} = erl_scan:string("-module(m). " ++ S),
    parse(Ts, []).
parse([], []) -> [];
parse([T = {dot, _} | Ts], Acc) -> {ok, F} = erl_parse:parse_form(lists:reverse([T | Acc])), [F | parse(Ts, [])];
parse([T | Ts], Acc) -> parse(Ts, [T | Acc]).
