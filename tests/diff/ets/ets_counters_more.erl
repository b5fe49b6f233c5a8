%% update_counter with lists, bounds, bignums, defaults.
-module(ets_counters_more).
-export([main/0]).
-export([uc/1]).
main() ->
    T = ets:new(t, []), ets:insert(T, {c, 5, 10, 1 bsl 59}), t:p(ets:update_counter(T, c, [{2, 1}, {3, -1}, {2, 10}])), t:p(ets:update_counter(T, c, {4, 1 bsl 60})), t:p(ets:update_counter(T, c, {4, -(1 bsl 100)})), t:p(ets:update_counter(T, c, {2, 5, 18, 0})), t:p(ets:update_counter(T, c, {2, -5, -3, 100})), t:p(ets:update_counter(T, c, [])), t:p(ets:lookup(T, c)),
    t:p(ets:update_counter(T, n, 3, {x, 7})), t:p(ets:lookup(T, n)), t:p(ets:update_counter(T, m, [{2, 1}, {4, 1}], {x, 0, y, 0})), t:p(ets:lookup(T, m)), [t:p(m:outcome(?MODULE, uc, [A])) || A <- [[T, c, [{2, 1}, {9, 1}]], [T, zz, 1], [T, c, {2, a}], [T, c, {2, 1, 2}], [T, q, {3, 1}, {a, b}], [T, q, 1, {a}], [T, q, 1, {}]]], t:p(ets:lookup(T, c)), t:p(ets:member(T, q)), O = ets:new(o, [ordered_set, {keypos, 2}]), ets:insert(O, {1, k, 2}), t:p(ets:update_counter(O, k, 1)), t:p(t:c(fun() -> ets:update_counter(O, k, {2, 1}) end)), t:p(ets:update_counter(O, k, {1, 1})), t:p(ets:lookup(O, k)).
uc(A) -> apply(ets, update_counter, A).
