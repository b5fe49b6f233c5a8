%% Tables walked while they change: fixed, first and next, deletes, inserts, nested fixing, dying fixers.
-module(ets_fixed_walks).
-export([main/0]).
main() ->
    [begin T = ets:new(t, [Y, public]), ets:insert(T, [{I, I} || I <- lists:seq(1, 500)]), ets:safe_fixtable(T, true), {N, Seen} = walk(T, ets:first(T), 0, []),
    t:p(Y, {N, length(lists:usort(Seen)), ets:info(T, size)}), {_, L} = ets:info(T, safe_fixed_monotonic_time),
    t:p([{P =:= self(), C} || {P, C} <- L]), ets:safe_fixtable(T, true),
    t:p([C || {_, C} <- element(2, ets:info(T, safe_fixed_monotonic_time))]), ets:safe_fixtable(T, false), ets:safe_fixtable(T, false),
    t:p(ets:info(T, fixed)),
    t:p(ets:safe_fixtable(T, false)), {P, M} = spawn_monitor(fun() -> ets:safe_fixtable(T, true), ets:safe_fixtable(T, true),
    receive x -> ok end end), wait(fun() -> ets:info(T, fixed) end), ets:insert(T, {new, 1}), ets:delete(T, new), P ! x,
    receive {'DOWN', M, _, _, _} -> ok end, wait(fun() -> not ets:info(T, fixed) end),
    t:p(ets:info(T, safe_fixed)),
    t:p(ets:lookup(T, new)), ets:delete(T) end || Y <- [set, ordered_set, bag, duplicate_bag]],
    T = ets:new(t, [bag]), ets:insert(T, [{a, I} || I <- lists:seq(1, 10)]), ets:safe_fixtable(T, true), ets:delete_object(T, {a, 5}), ets:insert(T, {a, 5}),
    t:p(ets:lookup(T, a)), ets:delete(T, a),
    t:p({ets:first(T), ets:info(T, size), ets:member(T, a), ets:next(T, a)}), ets:insert(T, {a, again}),
    t:p(ets:first(T)), ets:safe_fixtable(T, false),
    t:p(ets:tab2list(T)), S = ets:new(s, []), ets:insert(S, [{I} || I <- lists:seq(1, 100)]), ets:safe_fixtable(S, true), K = ets:first(S), ets:delete(S, K),
    t:p(ets:next(S, K) =/= K), ets:delete_all_objects(S),
    t:p([ets:first(S), ets:info(S, size), t:c(fun() -> ets:next(S, K) end)]), ets:insert(S, {K}), ets:safe_fixtable(S, false),
    t:p(ets:first(S) =:= K),
    t:pc(fun() -> ets:next(S, gone) end).
walk(_, '$end_of_table', N, A) -> {N, A}; walk(T, K, N, A) -> if N rem 3 =:= 0 -> ets:delete(T, K); N rem 3 =:= 1 -> ets:insert(T, {K, K}); true -> ets:lookup(T, K) end, walk(T, ets:next(T, K), if N > 3000 -> throw(endless); true -> N + 1 end, [K | A]).
wait(F) -> case F() of true -> ok; _ -> timer:sleep(1), wait(F) end.
