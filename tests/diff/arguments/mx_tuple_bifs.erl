%% Tuples.
-module(mx_tuple_bifs).
-export([main/0]).
main() ->
    Is = [0, 1, 2, 3, 4, -1, a, 1.0, 1 bsl 64],
    m:f(erlang, element, [Is, m:tuples()]),
    m:f(erlang, setelement, [Is, m:tuples(), [x]]),
    m:f(erlang, insert_element, [Is, m:tuples(), [x]]),
    m:f(erlang, delete_element, [Is, m:tuples()]),
    m:f(erlang, append_element, [m:tuples(), [x]]),
    m:f(erlang, make_tuple, [[0, 1, 3, -1, a, 16777216, 1 bsl 64], [x]]),
    m:f(erlang, make_tuple, [[2, 3], [x], [[], [{1, a}], [{3, a}], [{0, a}], [{1, a}, {1, b}], [a], a, [{1, a} | b], [{a, 1}]]]),
    m:fs(erlang, [tuple_size, tuple_to_list, size], [m:tuples() ++ m:few()]).
