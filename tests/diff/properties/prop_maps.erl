%% Random operations on maps against a sorted list of pairs as the model.
-module(prop_maps).
-export([main/0]).
main() ->
    g:seed(3),
    [run(Label, Key, Steps) || {Label, Key, Steps} <- [{small, fun() -> g:int(12) end, 500}, {thirty_two, fun() -> g:int(45) end, 1000},
                                                     {large, fun() -> g:int(500) end, 2000}, {mixed, fun() -> g:term(1) end, 1500},
                                                     {numbers, fun() -> g:one([g:int(30), float(g:int(30))]) end, 800}]],
    t:p(done).

run(Label, Key, Steps) ->
    {Map, Model} = lists:foldl(fun(_, S) -> step(g:int(11), Key(), S) end, {#{}, []}, lists:seq(1, Steps)),
    true = maps:size(Map) =:= length(Model),
    true = lists:sort(maps:to_list(Map)) == lists:sort(Model),
    t:p(Label, {maps:size(Map), g:digest(Map), g:digest(lists:sort(maps:keys(Map))), order(Label, Map)}).

%% Where large maps have atoms as keys, their order depends on the table of atoms.
order(mixed, _) -> any;
order(_, Map) -> {g:digest(maps:to_list(Map)), g:digest(term_to_binary(Map)), g:digest(walk(maps:next(maps:iterator(Map)), []))}.

step(N, K, {M, L}) when N < 4 -> V = g:small(), {M#{K => V}, put(K, V, L)};
step(4, K, {M, L}) -> {maps:remove(K, M), del(K, L)};
step(5, K, {M, L}) ->
    case find(K, L) of
        {_, V} -> V = map_get(K, M), V = maps:get(K, M), #{K := V} = M, {M#{K := V + 1}, put(K, V + 1, L)};
        false -> {'EXIT', {{badkey, K}, _}} = (catch M#{K := 1}), error = maps:find(K, M), false = is_map_key(K, M), {M, L}
    end;
step(6, K, {M, L}) ->
    New = maps:from_list([{K, 1}, {{K}, 2}]),
    {maps:merge(M, New), put({K}, 2, put(K, 1, L))};
step(7, _, {M, L}) ->
    true = M =:= maps:from_list(L), true = M =:= maps:from_list(lists:reverse(L)),
    true = lists:sum(maps:values(M)) =:= lists:sum([V || {_, V} <- L]),
    {M, L};
step(8, _, {M, L}) ->
    It = walk(maps:next(maps:iterator(M)), []),
    true = lists:sort(It) == lists:sort(maps:to_list(M)),
    {M, L};
step(9, K, {M, L}) ->
    case maps:take(K, M) of
        error -> false = find(K, L), {M, L};
        {V, M1} -> {_, V} = find(K, L), {M1#{K => V}, L}
    end;
step(10, _, {M, L}) ->
    F = fun(_, V) -> V rem 7 =/= 0 end,
    {maps:filter(F, M), [P || P = {_, V} <- L, V rem 7 =/= 0]}.

walk(none, Acc) -> lists:reverse(Acc);
walk({K, V, I}, Acc) -> walk(maps:next(I), [{K, V} | Acc]).

%% Keys are equal when they match, not when they compare equal.
find(K, [P = {K1, _} | _]) when K1 =:= K -> P;
find(K, [_ | L]) -> find(K, L);
find(_, []) -> false.
del(K, L) -> [P || P = {K1, _} <- L, K1 =/= K].
put(K, V, L) -> [{K, V} | del(K, L)].
