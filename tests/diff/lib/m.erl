%% Calls a function with every choice of arguments out of lists of them, and
%% prints what comes of it: the value, or class, reason and the texts that OTP's
%% modules find for the shell. Many answers are printed as digests, one for each
%% first argument; with DIFF_FULL=1 in the environment all of them are printed.
-module(m).
-export([f/3, fs/3, any/0, few/0, ints/0, atoms/0, lists/0, bins/0, maps/0, tuples/0, nums/0, outcome/3]).

-define(MANY, 60).

fs(M, Fs, Pools) -> [f(M, F, Pools) || F <- Fs], ok.

f(M, F, Pools) ->
    Calls = choices(Pools),
    case length(Calls) > ?MANY andalso os:getenv("DIFF_FULL") =:= false of
        false -> [one(M, F, A) || A <- Calls];
        true -> [digest(M, F, X, [A || [Y | _] = A <- Calls, Y =:= X]) || X <- unique(hd(Pools))]
    end,
    ok.

unique([]) -> [];
unique([X | Xs]) -> [X | unique([Y || Y <- Xs, Y =/= X])].

choices([]) -> [[]];
choices([P | Ps]) -> Rest = choices(Ps), [[X | R] || X <- P, R <- Rest].

one(M, F, A) ->
    io:format("~w:~tw(~ts) -> ~0tp~n", [M, F, lists:join($,, [io_lib:format("~0tP", [t:plain(X), 12]) || X <- A]), outcome(M, F, A)]).

digest(M, F, X, Calls) ->
    All = [outcome(M, F, A) || A <- Calls],
    Bad = [1 || O <- All, is_tuple(O), tuple_size(O) >= 3, element(1, O) =:= error],
    io:format("~w:~tw(~0tP, ...) -> ~w of ~w raise, ~.16b~n",
              [M, F, t:plain(X), 12, length(Bad), length(All), erlang:phash2(All, 1 bsl 32)]).

outcome(M, F, A) ->
    try apply(M, F, A) of
        Value -> t:plain(Value)
    catch
        C:R:St -> failure(M, F, C, R, St)
    end.

failure(M, F, C, R, [{M1, F1, A1, Info} | _] = St) ->
    Where = [where(M1, F1, A1) || {M1, F1} =/= {M, F}],
    case lists:keyfind(error_info, 1, Info) of
        false -> {C, t:plain(R), Where};
        {error_info, E} ->
            Mod = maps:get(module, E, M1),
            Fun = maps:get(function, E, format_error),
            {C, t:plain(R), Where, try texts(Mod:Fun(R, St)) catch _:_ -> no_text end}
    end.

texts(Map) ->
    maps:map(fun(_, S) -> hide(lists:flatten(io_lib:format("~ts", [S]))) end, maps:remove(reason, Map)).

where(M, F, A) when is_list(A) -> {M, F, length(A)};
where(M, F, A) -> {M, F, A}.

hide(S) ->
    re:replace(S, "<[0-9.]+>", "<n>", [global, {return, list}, unicode]).

%% ---- arguments ----

any() -> few() ++ [0, 7, 1 bsl 59, -(1 bsl 64), -0.5, "abc", [a | b], [1, 2.0, x], <<>>, <<5:3>>, {}, fun lists:map/2, 'é', []].
few() -> [a, -1, 2, 1.5, 1 bsl 70, "", [1, 2], <<"bin">>, {a, 1}, #{k => v}, self(), make_ref()].
ints() -> [0, 1, -1, 2, 3, 255, 256, -128, 65535, (1 bsl 59) - 1, 1 bsl 59, -(1 bsl 59), -(1 bsl 59) - 1, 1 bsl 63, (1 bsl 64) - 1, -(1 bsl 64), 1 bsl 100, a, 1.0].
nums() -> [0, 1, -1, 7, 0.0, -0.5, 1.0, 1.5, 1.0e20, -1.0e300, 1 bsl 59, 1 bsl 64, -(1 bsl 1030), a, "1"].
atoms() -> [a, '', true, 'A b', 'é', '漢', nonode@nohost, "a", 1, <<"a">>].
lists() -> [[], [a], [a, b, c], "text", [1 | 2], [[], [1]], [{a, 1}, {b, 2}], [{1, a}, {1.0, b}, c], a, {a}, <<"x">>].
bins() -> [<<>>, <<0>>, <<"abc">>, <<"12">>, <<255, 254>>, <<"é漢"/utf8>>, <<1:1>>, <<"abc", 5:3>>, a, "abc", [<<"a">>, "b"]].
maps() -> [#{}, #{a => 1}, #{1 => a, 1.0 => b}, #{{a} => [], "k" => <<"v">>}, maps:from_list([{N, N} || N <- lists:seq(1, 40)]), a, [], [{a, 1}]].
tuples() -> [{}, {a}, {a, b, c}, {1, {2}}, [a], a, 1].
