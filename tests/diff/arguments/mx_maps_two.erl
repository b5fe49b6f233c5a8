%% Functions of maps that take two or three.
-module(mx_maps_two).
-export([main/0]).
main() ->
    Ks = [a, 1, 1.0, {a}, "k", 17], Small = [M || M <- m:maps(), not is_map(M) orelse map_size(M) < 33],
    m:fs(maps, [get, find, is_key, remove, take], [Ks, m:maps()]),
    m:fs(maps, [put, update], [Ks, [v], Small]), m:f(maps, get, [Ks, m:maps(), [d]]),
    m:fs(erlang, [map_get, is_map_key], [Ks, m:maps()]),
    m:fs(maps, [merge, intersect], [Small, Small]),
    m:fs(maps, [with, without], [[[], [a], [a, 1], a, [a | b]], m:maps()]),
    m:f(maps, from_keys, [m:lists(), [v]]).
