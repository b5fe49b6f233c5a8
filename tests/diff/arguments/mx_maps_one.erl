%% Functions of maps that take one.
-module(mx_maps_one).
-export([main/0]).
main() -> m:fs(maps, [keys, values, to_list, size, iterator, from_list], [m:maps() ++ m:lists()]),
    m:fs(erlang, [map_size, is_map], [m:maps()]), m:f(maps, next, [[none, a, {a, 1, none}, [0 | #{}], {}, maps:iterator(#{a => 1})]]).
