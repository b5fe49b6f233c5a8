%% Ordered sets and gb_sets beside each other, every function on every pair.
-module(mx_ordsets).
-export([main/0]).
main() ->
    Ls = [[], [1], [1, 2, 3], [a, b], [1.0], [2, 3, 4], lists:seq(1, 20)],
    m:fs(ordsets, [union, intersection, subtract, is_subset, is_disjoint], [Ls, Ls]),
    m:fs(ordsets, [is_element, add_element, del_element], [[1, 1.0, a, 99], Ls]), Gs = [gb_sets:from_list(L) || L <- Ls],
    m:fs(gb_sets, [union, intersection, subtract, is_subset, is_disjoint], [Gs, Gs]),
    m:fs(ordsets, [fold], [[fun(X, A) -> [X | A] end, a], [[]], Ls]),
    m:fs(ordsets, [filter], [[fun is_integer/1, a], Ls]),
    m:fs(gb_sets, [filter], [[fun is_integer/1], Gs]),
    t:p([ordsets:union(Ls), ordsets:intersection([[1, 2], [2, 3], [2]])]).
