%% Balanced trees and sets: shape after many changes, iterators, largest and smallest, bad use.
-module(lib_gb).
-export([main/0]).
main() ->
    g:seed(3), T = lists:foldl(fun(_, A) -> K = g:int(40), case g:int(3) of 0 -> gb_trees:enter(K, {K}, A); 1 -> gb_trees:delete_any(K, A); 2 -> case gb_trees:lookup(K, A) of none -> gb_trees:insert(K, n, A); _ -> A end end end, gb_trees:empty(), lists:seq(1, 500)),
    t:p(T),
    t:p([gb_trees:size(T), gb_trees:smallest(T), gb_trees:largest(T), element(1, gb_trees:take_smallest(T)), element(2, gb_trees:take_largest(T))]),
    t:p(gb_trees:balance(T)),
    t:p(walk(gb_trees:next(gb_trees:iterator(T)))),
    t:p(walk(gb_trees:next(gb_trees:iterator_from(20, T)))),
    t:p(gb_trees:map(fun(K, _) -> K * 2 end, T)),
    m:fs(gb_trees, [size, to_list, keys, values, is_empty, smallest, largest, take_smallest, take_largest, balance, iterator], [[gb_trees:empty(), gb_trees:from_orddict([{1, a}, {2, b}]), {0, nil}, a, {x, y}]]),
    m:fs(gb_trees, [get, lookup, is_defined, delete, delete_any, take, take_any], [[1, 1.0, x], [gb_trees:empty(), gb_trees:from_orddict([{1, a}, {2, b}]), {1, bad}]]),
    m:fs(gb_trees, [insert, update, enter], [[1, z], [v], [gb_trees:empty(), gb_trees:from_orddict([{1, a}])]]),
    S = gb_sets:from_list([3, 1, 2, 3, 1.0]),
    t:p(S),
    m:fs(gb_sets, [size, to_list, smallest, largest, take_smallest, take_largest, is_empty, is_set, balance], [[S, gb_sets:new(), a, []]]),
    m:fs(gb_sets, [add, add_element, insert, delete, delete_any, is_member], [[1, 1.0, 7, a], [S, gb_sets:new()]]),
    t:p([gb_sets:to_list(X) || X <- [gb_sets:union([S, gb_sets:from_list([a])]), gb_sets:difference(S, gb_sets:from_list([1])), gb_sets:intersection(S, gb_sets:from_list([1]))]]),
    t:p(gb_sets:fold(fun(X, A) -> [X | A] end, [], S)),
    t:p(walk2(gb_sets:next(gb_sets:iterator(S)))),
    t:p(walk2(gb_sets:next(gb_sets:iterator_from(1.5, S)))).
walk(none) -> []; walk({K, V, I}) -> [{K, V} | walk(gb_trees:next(I))].
walk2(none) -> []; walk2({K, I}) -> [K | walk2(gb_sets:next(I))].
