%% Walking tables of every type while they change.
-module(ets_order_iter).
-export([main/0]).
main() ->
    [begin T = ets:new(t, [Ty]), [ets:insert(T, {K, K * 2}) || K <- lists:seq(1, 30)], ets:safe_fixtable(T, true), Seen = walk(T, ets:first(T), []), ets:safe_fixtable(T, false), t:p(Ty, {lists:usort(Seen) =:= lists:usort(Seen ++ [X || X <- lists:seq(1, 30), X rem 3 =/= 0]), length([X || X <- Seen, X rem 3 =:= 0]) =< 10, ets:info(T, size), ets:info(T, fixed), ets:info(T, safe_fixed)}) end || Ty <- [set, bag, duplicate_bag, ordered_set]],
    O = ets:new(o, [ordered_set]), [ets:insert(O, {K}) || K <- [5, 1, 9.0, a, "x", {1}, 3, 3.0, #{}, [], <<"b">>]], t:p(ets:tab2list(O)), t:p([ets:next(O, K) || K <- [0, 1, 2, 3.0, 10, zz, <<"a">>, <<"z">>]]), t:p([ets:prev(O, K) || K <- [0, 1, 2, 3, 10, zz, <<"z">>]]), t:p({ets:first(O), ets:last(O)}), S = ets:new(s, []), t:p(t:c(fun() -> ets:next(S, none) end)), t:p({ets:first(S), ets:last(S)}).
walk(_, '$end_of_table', A) -> A;
walk(T, K, A) -> N = ets:next(T, K), K rem 3 =:= 0 andalso ets:delete(T, K), ets:insert(T, {K + 1000, x}), walk2(T, N, [K | A]).
walk2(T, K, A) when is_integer(K), K > 1000 -> walk2(T, ets:next(T, K), A);
walk2(T, K, A) -> walk(T, K, A).
