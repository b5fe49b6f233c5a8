%% bag, duplicate_bag and ordered_set beside set.
-module(ets_types).
-export([main/0]).
main() ->
    [begin T = ets:new(t, [Ty]), ets:insert(T, [{1, a}, {2, b}, {1, c}, {1, a}, {1.0, f}, {3, d}, {2, b}]), t:p(Ty, {ets:info(T, size), lists:sort(ets:tab2list(T)), lists:sort(ets:lookup(T, 1)), ets:info(T, type)}), ets:delete_object(T, {1, a}), t:p(lists:sort(ets:tab2list(T))), t:p(lists:sort(ets:take(T, 2))), t:p(ets:insert_new(T, {1, z})), t:p(lists:sort(ets:tab2list(T))), t:p(t:c(fun() -> ets:lookup_element(T, 1, 2) end)), ets:delete(T, 1), t:p(lists:sort(ets:tab2list(T))) end || Ty <- [set, bag, duplicate_bag, ordered_set]],
    B = ets:new(b, [bag]), [ets:insert(B, {k, I}) || I <- lists:seq(1, 100)], t:p(ets:lookup(B, k) =:= [{k, I} || I <- lists:seq(1, 100)]), ets:delete_object(B, {k, 50}), t:p(length(ets:lookup_element(B, k, 2))),
    O = ets:new(o, [ordered_set]), Keys = [3, a, {1}, "s", 2.5, <<"b">>, -1, #{}, [], 1 bsl 70], ets:insert(O, [{K, x} || K <- Keys]), t:p([K || {K, _} <- ets:tab2list(O)]), t:p(ets:first(O)), t:p(ets:last(O)), t:p([ets:next(O, K) || K <- Keys ++ [0, zz, 1 bsl 80]]), t:p([ets:prev(O, K) || K <- Keys ++ [0, zz, -5]]),
    t:p(walk(O, ets:first(O))), t:p(ets:foldl(fun({K, _}, A) -> [K | A] end, [], O)), t:p(ets:foldr(fun({K, _}, A) -> [K | A] end, [], O)), t:p(ets:slot(O, 0)), t:p(ets:lookup(O, 3.0)),
    E = ets:new(e, []), t:p(ets:first(E)), t:p(ets:last(E)), t:p(ets:tab2list(E)), t:pc(fun() -> ets:next(E, nokey) end).
walk(_, '$end_of_table') -> []; walk(T, K) -> [K | walk(T, ets:next(T, K))].
