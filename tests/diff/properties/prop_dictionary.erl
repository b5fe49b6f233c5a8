%% A process dictionary under random puts, erases and reads, beside a map.
-module(prop_dictionary).
-export([main/0]).
main() ->
    g:seed(22), Seed = get(),
    [begin erase(), put(rand_seed, R) end || {rand_seed, R} <- Seed], {M, Rs} = lists:foldl(fun(_, {M, Rs}) -> K = key(), case g:int(6) of 0 -> V = g:small(), {M#{K => V}, [put(K, V) =:= maps:get(K, M, undefined) | Rs]}; 1 -> {maps:remove(K, M), [erase(K) =:= maps:get(K, M, undefined) | Rs]}; 2 -> {M, [get(K) =:= maps:get(K, M, undefined) | Rs]}; 3 -> {M, [lists:sort(get_keys(0)) =:= lists:sort([X || {X, 0} <- maps:to_list(M)]) | Rs]}; 4 -> {M, [length(get()) =:= map_size(M) + 1 | Rs]}; 5 -> V = g:term(2), {M#{K => V}, [put(K, V) =:= maps:get(K, M, undefined) | Rs]} end end, {#{}, []}, lists:seq(1, 4000)),
    t:p({map_size(M), [X || X <- Rs, X =/= true]}),
    t:p(erlang:phash2(lists:sort(get() -- [{rand_seed, get(rand_seed)}]))),
    t:p(lists:sort(get_keys()) =:= lists:sort([rand_seed | maps:keys(M)])),
    t:p(length(erase()) =:= map_size(M) + 1),
    t:p(get()).
key() -> g:one([g:int(40), {k, g:int(10)}, float(g:int(10)), <<(g:int(5))>>, g:atom()]).
