%% Functions of maps that take funs.
-module(mx_maps_funs).
-export([main/0]).
main() ->
    F = [fun(_, V) -> V end, fun(K, _) -> is_atom(K) end, fun(_, _) -> {true, x} end, fun(_) -> 1 end, a],
    m:fs(maps, [map, filter, filtermap, foreach], [F, m:maps()]),
    m:f(maps, fold, [[fun(K, V, A) -> [{K, V} | A] end, a], [[]], m:maps()]),
    m:f(maps, update_with, [[a, 1], [fun(V) -> {V} end, fun() -> 1 end, a], m:maps()]),
    m:f(maps, update_with, [[a, 1], [fun(V) -> {V} end, a], [init], [M || M <- m:maps(), not is_map(M) orelse map_size(M) < 33]]),
    m:f(maps, merge_with, [[fun(K, A, B) -> {K, A, B} end, a], m:maps(), lists:droplast(m:maps()) -- [maps:from_list([{N, N} || N <- lists:seq(1, 40)])]]),
    m:f(maps, intersect_with, [[fun(K, A, B) -> {K, A, B} end, a], m:maps(), m:maps()]),
    m:fs(maps, [groups_from_list], [[fun(X) -> X end, fun is_atom/1, a], m:lists()]),
    m:fs(maps, [groups_from_list], [[fun is_atom/1], [fun(X) -> {X} end, a], m:lists()]).
