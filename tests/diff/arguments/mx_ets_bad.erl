%% Every function on tables with what is no table, or no key position.
-module(mx_ets_bad).
-export([main/0]).
main() ->
    T = ets:new(t, [public, ordered_set]), N = ets:new(named, [named_table]), D = ets:new(d, []), ets:delete(D),
    Ts = [T, N, named, nope, D, a, 1, make_ref(), {}],
    [ets:insert(X, [{1, a}, {2, b, 5}]) || X <- [T, N]],
    m:fs(ets, [first, last, tab2list, whereis, delete_all_objects], [Ts]),
    [ets:insert(X, [{1, a}, {2, b, 5}]) || X <- [T, N]],
    m:fs(ets, [next, prev, lookup, member, take], [Ts, [1, 2, 3]]), [ets:insert(X, [{1, a}, {2, b, 5}]) || X <- [T, N]],
    m:f(ets, lookup_element, [Ts, [1, 2, 3], [0, 1, 2, 3, 9, a]]), m:f(ets, update_element, [Ts, [1, 2, 3], [{1, x}, {2, x}, {3, x}, {0, x}, [], [{2, x}, {9, y}], a, [a], {a, x}]]),
    m:f(ets, update_counter, [Ts, [1, 2, 3], [1, {3, 1}, {3, 1, 2, 0}, [{3, 1}, {3, -1}], [], {1, 1}, {9, 1}, a, {3, a}, {3, 1.0}, {3, 1 bsl 70}, [{3, 1} | a]]]),
    m:f(ets, update_counter, [Ts, [2, 3], [{3, 1}, 1, a], [{x, y, 0}, {}, a, {x}]]), m:fs(ets, [insert, insert_new], [Ts, [[], {}, [{}], a, [a], [{7} | a], {7, 7}]]),
    m:f(ets, safe_fixtable, [Ts, [true, false, a]]), m:fs(ets, [slot], [Ts, [0, 1, 99, -1, a]]), m:fs(ets, [delete_object], [Ts, [{1, a}, a]]),
    m:f(ets, info, [Ts, [size, type, name, protection, keypos, named_table, compressed, heir, read_concurrency, decentralized_counters, bad, 1]]).
