%% Functions of lists that take funs.
-module(mx_lists_funs).
-export([main/0]).
main() ->
    F1 = [fun is_atom/1, fun erlang:abs/1, fun(X) -> X =:= a end, fun(_, _) -> true end, a, {m, f}],
    m:fs(lists, [all, any, filter, map, foreach, partition, takewhile, dropwhile, splitwith, search, filtermap, flatmap, uniq], [F1, m:lists()]),
    F2 = [fun(X, A) -> [X | A] end, fun(X, _) -> X > 1 end, fun(_) -> true end, a],
    m:fs(lists, [foldl, foldr], [F2, [[], 0], m:lists()]),
    F3 = [fun(X, A) -> {X, [X | A]} end, fun(_, _) -> bad end],
    m:fs(lists, [mapfoldl, mapfoldr], [F3, [[]], m:lists()]),
    m:fs(lists, [sort, usort], [[fun(A, B) -> A =< B end, fun(A, B) -> A >= B end, fun(_) -> true end, a], m:lists()]),
    m:fs(lists, [zipwith], [[fun(A, B) -> {A, B} end, a], m:lists(), m:lists()]).
