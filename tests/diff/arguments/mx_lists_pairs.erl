%% Functions of two lists.
-module(mx_lists_pairs).
-export([main/0]).
main() ->
    m:fs(lists, [prefix, suffix, subtract, append, merge, umerge, flatten, reverse], [m:lists(), m:lists()]),
    m:fs(lists, [delete], [[a, b, [], {a, 1}], m:lists()]),
    m:fs(lists, [join], [[x], m:lists()]),
    m:fs(lists, [merge, umerge, merge3, umerge3], [[[], [1, 3], [2], [1.0]], [[], [2, 4], a], [[], [1]]]).
