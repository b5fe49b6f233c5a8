%% update_counter in all its forms.
-module(ets_counters).
-export([main/0]).
main() ->
    T = ets:new(t, []), ets:insert(T, {a, 1, 2, 1 bsl 65, "no"}), t:p(ets:update_counter(T, a, 5)), t:p(ets:update_counter(T, a, {3, -10})), t:p(ets:update_counter(T, a, [{2, 1}, {3, 1}, {2, 100}])), t:p(ets:update_counter(T, a, {2, 1, 100, 0})), t:p(ets:update_counter(T, a, {2, -5, 0, 50})), t:p(ets:update_counter(T, a, {2, 0})), t:p(ets:update_counter(T, a, {4, 1})), t:p(ets:update_counter(T, a, {4, -(1 bsl 65)})), t:p(ets:update_counter(T, a, [])), t:p(ets:update_counter(T, new, 3, {new, 10})), t:p(ets:update_counter(T, new2, {3, 1}, {x, y, 5})), t:p(lists:sort(ets:tab2list(T))),
    t:p(ets:update_counter(T, a, (1 bsl 59))), t:p(ets:update_counter(T, a, (1 bsl 59))), t:p(ets:lookup(T, a)),
    [t:pc(F) || F <- [fun() -> ets:update_counter(T, nokey, 1) end, fun() -> ets:update_counter(T, a, {5, 1}) end, fun() -> ets:update_counter(T, a, {1, 1}) end, fun() -> ets:update_counter(T, a, {9, 1}) end, fun() -> ets:update_counter(T, a, t:id(x)) end, fun() -> ets:update_counter(T, a, {2, t:id(1.0)}) end]],
    O = ets:new(o, [ordered_set]), ets:insert(O, {1, 0}), t:p([ets:update_counter(O, 1, 1) || _ <- lists:seq(1, 5)]), t:p(ets:update_counter(O, 1.0, 1)), t:p(ets:tab2list(O)).
