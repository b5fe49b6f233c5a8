%% Sorting and merging: stability, bad comparison functions, runs, key sorts, usort, merges of three and more.
-module(lists_corner_sorts).
-export([main/0]).
main() ->
    g:seed(31), R = [{g:int(8), I} || I <- lists:seq(1, 200)],
    t:p([erlang:phash2(X) || X <- [lists:sort(R), lists:keysort(1, R), lists:ukeysort(1, R), lists:usort(R), lists:sort(fun({A, _}, {B, _}) -> A =< B end, R), lists:usort(fun({A, _}, {B, _}) -> A =< B end, R), lists:sort(fun(_, _) -> true end, R), lists:sort(fun(_, _) -> false end, R), lists:sort(fun(A, B) -> A >= B end, R), lists:reverse(lists:sort(R))]]),
    t:p([lists:F(L) || F <- [sort, usort], L <- [[], [a], [b, a], [1, 1.0, 1], [1.0, 1, 1.0], [3, 2, 1], [c, b, a, c], [[], {}, a, 1, <<>>, #{}, 1.5]]]), [t:pc(L, fun() -> lists:sort(L) end) || L <- [a, [a | b], [b, a | c], {}]],
    t:pc(fun() -> lists:sort(a, []) end),
    t:pc(fun() -> lists:sort(fun(_, _) -> x end, [1, 2, 3]) end),
    t:pc(fun() -> lists:sort(fun(_) -> true end, [1, 2]) end),
    t:p([lists:merge(X) || X <- [[], [[1, 3], [2]], [[1], [], [0, 5], [3]], [[a], [1.0], [1]]]]),
    t:p([lists:umerge(X) || X <- [[], [[1, 3], [1, 3]], [[1], [1.0], [1]]]]),
    t:p([lists:merge3([1, 4], [2, 4], [3]), lists:umerge3([1, 4], [2, 4], [4]), lists:merge(fun(A, B) -> A >= B end, [3, 1], [2]), lists:umerge(fun(A, B) -> A =< B end, [1, 2], [2, 3]), lists:keymerge(1, [{1, a}, {2, b}], [{1, c}]), lists:ukeymerge(1, [{1, a}], [{1, c}, {2, d}]), lists:rmerge([3, 1], [2]), lists:rumerge([3, 1], [3]), lists:rkeymerge(1, [{2, a}], [{2, b}])]),
    m:f(lists, keysort, [[0, 1, 2, a], [[], [{1}], [{2, a}, {1, b}], [x], [{1, 2} | y]]]),
    t:p([lists:sort([g:number() || _ <- lists:seq(1, 50)]) =:= lists:usort([]) | [length(lists:usort([g:int(20) || _ <- lists:seq(1, 500)]))]]), L = lists:seq(1, 20000),
    t:p([lists:sort(lists:reverse(L)) =:= L, lists:sort(L ++ L) =:= lists:merge(L, L), lists:usort(L ++ L) =:= L, erlang:phash2(lists:sort(fun(A, B) -> A rem 7 < B rem 7 orelse (A rem 7 =:= B rem 7 andalso A =< B) end, L))]).
