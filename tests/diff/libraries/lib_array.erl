%% Arrays: sizes, defaults, holes, growing, sparse walks, and what cannot be.
-module(lib_array).
-export([main/0]).
main() ->
    A = array:set(25, x, array:set(3, y, array:new())), F = array:fix(array:new([{size, 5}, {default, d}])), As = [array:new(), A, F, array:from_list([a, b, c]), array:new(10, {default, 0}), array:relax(F), a, {array}],
    m:fs(array, [size, sparse_size, default, is_fix, is_array, to_list, sparse_to_list, relax, fix], [As]),
    m:f(array, get, [[0, 3, 25, 26, 99, -1, a], As]),
    m:f(array, set, [[0, 4, 5, 30, -1, a], [v], As]),
    m:f(array, reset, [[0, 3, 5, -1, a], As]),
    m:f(array, resize, [[0, 3, 30, -1, a], As]),
    m:f(array, new, [[0, 5, -1, fixed, {size, 3}, [{size, 3}, fixed], [{fixed, false}], [bad], {default, q}, a]]),
    m:f(array, from_list, [[[], [a, b], [a | b], x], [d]]),
    t:p(array:foldl(fun(I, V, Acc) -> [{I, V} | Acc] end, [], array:from_list([a, b, c]))),
    t:p(array:sparse_foldr(fun(I, V, Acc) -> [{I, V} | Acc] end, [], A)),
    t:p(array:to_orddict(array:from_list([a, b]))),
    t:p(array:sparse_to_orddict(A)),
    t:p(array:to_list(array:map(fun(I, V) -> {I, V} end, F))),
    t:p(array:sparse_to_list(array:sparse_map(fun(_, V) -> {V} end, A))),
    m:f(array, from_orddict, [[[], [{0, a}, {5, b}], [{1, a}, {1, b}], [{2, a}, {1, b}], [x], a]]), B = array:from_list(lists:seq(1, 1234)),
    t:p({erlang:phash2(B), array:get(1233, B), lists:sum(array:to_list(B))}).
