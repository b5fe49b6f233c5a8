%% Functions of maps on maps small and large and what is none.
-module(mx_maps_more).
-export([main/0]).
main() ->
    m:fs(maps, [to_list, keys, values, size, iterator, from_list], [m:maps()]),
    m:fs(maps, [get, find, is_key, remove, take, without, with], [[a, 1, 1.0, [a], "k"], m:maps()]),
    m:fs(maps, [put, update], [[a, 1, new], [v], [#{}, #{a => 1}, a]]),
    m:fs(maps, [merge, intersect], [m:maps(), m:maps()]),
    m:f(maps, get, [[a, zz], m:maps(), [dflt]]),
    m:fs(maps, [filter, map, foreach, filtermap], [[fun(_, _) -> true end, fun(_) -> true end, a], m:maps()]),
    m:f(maps, fold, [[fun(K, _, A) -> [K | A] end, a], [[]], [#{}, #{a => 1}, a, [{a, 1}]]]),
    m:f(maps, from_keys, [m:lists(), [v]]),
    m:f(maps, next, [[none, a, [], maps:iterator(#{}), [a | b], {k, v, none}]]),
    m:f(erlang, map_get, [[a, 1], m:maps()]),
    m:fs(erlang, [map_size, is_map], [m:maps()]),
    m:f(erlang, is_map_key, [[a, 1.0], m:maps()]).
