%% Tuples made, changed, counted; element positions of every kind.
-module(mx_tuples_more).
-export([main/0]).
main() ->
    P = [0, 1, 2, 3, 4, -1, a, 1.0, 1 bsl 70],
    m:f(erlang, element, [P, m:tuples()]),
    m:f(erlang, setelement, [P, m:tuples(), [x]]),
    m:f(erlang, delete_element, [P, m:tuples()]),
    m:f(erlang, insert_element, [P, m:tuples(), [x]]),
    m:f(erlang, append_element, [m:tuples(), [x]]),
    m:fs(erlang, [tuple_to_list, tuple_size, size, is_tuple, list_to_tuple, hd, tl, length], [m:tuples() ++ m:lists()]),
    m:f(erlang, make_tuple, [P, [d]]),
    m:f(erlang, make_tuple, [[0, 1, 3], [d], [[], [{1, a}], [{4, b}], [{0, b}], [{1, a}, {1, b}], [x], a, [{1, a} | b]]]),
    m:f(erlang, is_record, [m:tuples() ++ [{a, 1, 2}], [a, 1], [1, 2, 3, 0, -1, b]]),
    m:f(erlang, is_record, [m:tuples(), [a, b, 1]]).
