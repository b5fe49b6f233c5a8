%% Sets as maps, as the old hash and as ordered lists do the same.
-module(lib_sets).
-export([main/0]).
main() ->
    g:seed(2), Ls = [g:list(fun() -> g:term(1) end, 30) || _ <- lists:seq(1, 12)] ++ [[1, 1.0], [], [a, b, a], lists:seq(1, 300)],
    [begin Sets = [{M, from(M, L), from(M, K)} || M <- [v1, v2, ord, gb]],
         R = [[lists:sort(to(M, F)) || F <- [op(M, union, [A, B]), op(M, intersection, [A, B]), op(M, subtract, [A, B]), op(M, filter, [fun is_integer/1, A])]]
              ++ [op(M, size, [A]), op(M, is_subset, [A, B]), op(M, is_disjoint, [A, B]), [op(M, is_element, [X, B]) || X <- L], op(M, is_set, [A])] || {M, A, B} <- Sets],
         t:p({length(L), length(K), [erlang:phash2(X) || X <- R], length(lists:usort(R))})
     end || L <- Ls, K <- lists:sublist(Ls, 8, 4)],
    t:p([sets:to_list(sets:from_list(L)) || L <- lists:sublist(Ls, 4)]),
    t:p([sets:from_list([b, a, 1], [{version, V}]) || V <- [1, 2]]),
    t:pc(fun() -> sets:from_list([a], [{version, 3}]) end),
    S1 = sets:from_list([1, 2]), S2 = sets:from_list([2, 3], [{version, 2}]),
    t:p([lists:sort(sets:to_list(sets:F(S1, S2))) || F <- [union, intersection, subtract]]),
    t:p([sets:is_equal(S1, S2) || _ <- [1], erlang:function_exported(sets, is_equal, 2)]),
    m:fs(sets, [size, to_list, is_set, is_empty], [[S1, S2, a, [], #{}, {set}]]),
    m:fs(ordsets, [is_set, size, from_list, union], [[[], [a], [b, a], [[a], [b]], a]]),
    m:f(ordsets, add_element, [[1, 1.0, a], [[], [1], [1.0], [a, b], x]]).
from(v1, L) -> sets:from_list(L, [{version, 1}]); from(v2, L) -> sets:from_list(L, [{version, 2}]); from(ord, L) -> ordsets:from_list(L); from(gb, L) -> gb_sets:from_list(L).
to(ord, S) -> S; to(gb, S) -> gb_sets:to_list(S); to(_, S) -> sets:to_list(S).
op(ord, F, A) -> apply(ordsets, F, A); op(gb, F, A) -> apply(gb_sets, F, A); op(_, F, A) -> apply(sets, F, A).
