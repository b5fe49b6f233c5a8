%% beam_lib: chunks, info, md5, comparing, stripping, building, broken files.
-module(lib_beam_files).
-export([main/0]).
main() ->
    C = fun(O, N) -> {ok, bl, B} = compile:forms([{attribute, 1, file, {"bl.erl", 1}}, {attribute, 1, module, bl}, {attribute, 2, my, [N]}, {attribute, 3, export, [{f, 1}]}, {function, 4, f, 1, [{clause, 4, [{var, 4, 'X'}], [], [{call, 4, {remote, 4, {atom, 4, lists}, {atom, 4, reverse}}, [{var, 4, 'X'}]}]}]}], O), B end,
    B = C([debug_info], a), B2 = C([], b), {ok, {bl, Cs}} = beam_lib:chunks(B, [exports, imports, attributes, labeled_exports, labeled_locals, indexed_imports, locals]),
    t:p(Cs), {ok, {bl, [{atoms, As}]}} = beam_lib:chunks(B, [atoms]),
    t:p(As),
    t:p(lists:sort([I || I <- element(2, lists:keyfind(chunks, 1, beam_lib:info(B))), is_list(I)])),
    t:p([element(1, I) || {_, _} = I <- beam_lib:info(B)]),
    t:p([N || {N, _, _} <- element(2, lists:keyfind(chunks, 1, beam_lib:info(B)))]),
    {ok, {bl, [{abstract_code, {raw_abstract_v1, F}}]}} = beam_lib:chunks(B, [abstract_code]),
    t:p([element(1, X) || X <- F]),
    t:p(beam_lib:chunks(B2, [abstract_code])),
    t:p([beam_lib:chunks(B, X) || X <- [["Nope"], [nope]]] =/= x),
    t:p(t:c(fun() -> beam_lib:chunks(B, [bad_id]) end) =/= x),
    t:p(beam_lib:chunks(B, ["Zzzz"], [allow_missing_chunks])),
    t:p(beam_lib:cmp(B, B)),
    t:p(element(1, beam_lib:cmp(B, B2))), {ok, {bl, S}} = beam_lib:strip(B),
    t:p([N || {N, _, _} <- element(2, lists:keyfind(chunks, 1, beam_lib:info(S)))]),
    t:p(beam_lib:md5(B) =:= beam_lib:md5(S)),
    t:p([t:plain(t:c(fun() -> beam_lib:info(X) end)) || X <- [<<>>, <<"FOR1", 4:32, "BEAM">>, binary:part(B, 0, 50), <<"nope">>]]), {ok, {bl, V}} = beam_lib:version(B),
    t:p(length(V)), {ok, bl, All} = beam_lib:all_chunks(B), {ok, Re} = beam_lib:build_module(All),
    t:p(Re =:= B),
    t:p(beam_lib:diff_dirs("/nope1", "/nope2") =/= x),
    t:p(lists:flatten(beam_lib:format_error({not_a_beam_file, "x"}))).
