#!/usr/bin/env escript
%% Which of OTP's applications call which native. Made once, for docs/COMPATIBILITY.md:
%%     tests/otp/users.escript tests/otp/imports.tsv ROOT... >tests/otp/users.tsv
%% where the roots hold lib/APPLICATION/ebin. A line is module, function, arity, applications;
%% `*` and 0 stand for any call of a module of NIFs from outside it.
main([Table | Roots]) ->
    {ok, T} = file:read_file(Table),
    [_ | Rows] = [binary:split(L, <<"\t">>, [global]) || L <- binary:split(T, <<"\n">>, [global, trim])],
    Natives = [{{atom(M), atom(F), binary_to_integer(A)}, K} || [M, F, A, K | _] <- Rows],
    Set = maps:from_list(Natives),
    Nifs = maps:from_list([{M, true} || {{M, _, _}, <<"nif", _/binary>>} <- Natives]),
    Uses = [{Key, app(B)} || R <- Roots, B <- filelib:wildcard(R ++ "/lib/*/ebin/*.beam"),
            {M, I} <- [imports(B)], MFA <- I, Key <- keys(MFA, M, Set, Nifs)],
    Apps = maps:groups_from_list(fun({K, _}) -> K end, fun({_, A}) -> A end, Uses),
    [io:format("~ts\t~ts\t~w\t~ts~n", [M, F, A, lists:join(" ", lists:usort(V))])
     || {{M, F, A}, V} <- lists:sort(maps:to_list(Apps))].
atom(B) -> binary_to_atom(B).
keys({M, F, A}, Self, Set, Nifs) ->
    [{M, F, A} || is_map_key({M, F, A}, Set), not is_map_key(M, Nifs)] ++
    [{M, '*', 0} || is_map_key(M, Nifs), M =/= Self].
app(Beam) ->
    hd(string:split(filename:basename(filename:dirname(filename:dirname(Beam))), "-")).
imports(B) ->
    {ok, {M, [{imports, I}]}} = beam_lib:chunks(B, [imports]),
    {M, I}.
