%% Functions of lists that count, cut and look, on lists of every kind.
-module(mx_lists_misc).
-export([main/0]).
main() ->
    N = [0, 1, 2, 5, -1, a, 1.0],
    m:fs(lists, [nth, nthtail, sublist, split], [N, m:lists()]),
    m:f(lists, sublist, [m:lists(), [1, 2, 0, 9], [0, 1, 9, -1]]),
    m:fs(lists, [prefix, suffix, subtract, append, zip], [m:lists(), [[], [a], "te", [a | b], x]]),
    m:fs(lists, [last, droplast, reverse, flatten, concat, sum, max, min, unzip, unzip3, sort, usort, enumerate, uniq], [m:lists() ++ [[3, 1, 2], [[[a]], b, []], [{1, 2}, {3, 4}], [{1, 2, 3}]]]),
    m:fs(lists, [member, delete, duplicate, join], [[1, 1.0, a, [], 0, 3], [[1, 2], [1.0], [], x, [a | 1], [[], a]]]),
    m:f(lists, seq, [[0, 1, 5, a], [0, 3, -1, 1.0], [1, 2, 0, -1, a]]),
    m:fs(lists, [flatlength, flatten], [[[], [[]], [a, [b | c]], [[1, 2], [3]], x]]).
