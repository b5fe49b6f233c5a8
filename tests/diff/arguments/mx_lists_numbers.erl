%% Functions of lists that take numbers.
-module(mx_lists_numbers).
-export([main/0]).
main() ->
    Ns = [0, 1, 2, 3, 4, -1, a, 1.0, 1 bsl 64],
    m:fs(lists, [nth, nthtail, split], [Ns, m:lists()]),
    m:f(lists, sublist, [m:lists(), Ns]),
    m:f(lists, sublist, [m:lists(), Ns, Ns]),
    m:f(lists, seq, [[0, 1, 5, a], [0, 1, 5, -5, a]]),
    m:f(lists, seq, [[0, 1, 5, 1.0], [0, 1, 5, -5], [1, 2, -1, 0, a]]),
    m:f(lists, duplicate, [[0, 3, -1, a], [x]]),
    m:f(lists, zip, [m:lists(), m:lists()]), m:f(lists, zip3, [m:lists(), m:lists(), [[], [1], "abc"]]).
