%% Objects of one key in bags: order, duplicates, deletion.
-module(ets_bag_order).
-export([main/0]).
main() ->
    [begin T = ets:new(t, [Ty]), [ets:insert(T, {k, X}) || X <- [3, 1, 2, 1, 3, a]], ets:insert(T, [{k, 9}, {j, 1}, {k, 9}]), t:p(Ty, ets:lookup(T, k)), ets:delete_object(T, {k, 1}), t:p(ets:lookup(T, k)), ets:insert(T, {k, 1}), t:p(ets:lookup(T, k)), t:p(ets:lookup_element(T, k, 2)), t:p(ets:take(T, k)), t:p(ets:tab2list(T)), [ets:insert(T, O) || O <- [{a, 1.0}, {a, 1}, {1, x}, {1.0, y}]], t:p({ets:lookup(T, a), ets:lookup(T, 1), ets:lookup(T, 1.0), ets:match_object(T, {a, 1}), ets:select_count(T, [{{a, '_'}, [], [true]}])}), t:p(t:c(fun() -> ets:update_counter(T, a, 1) end)), t:p(t:c(fun() -> ets:update_element(T, a, {2, 1}) end)), t:p(ets:insert_new(T, {a, 5})), t:p(ets:insert_new(T, [{zz, 1}, {a, 5}])), t:p(ets:member(T, zz)) end || Ty <- [bag, duplicate_bag]].
