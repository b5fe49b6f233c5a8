%% Ownership: protection, heirs, give_away, the end of the owner.
-module(ets_owner).
-export([main/0]).
main() ->
    S = self(), P = spawn(fun() -> [ets:new(N, [named_table, Pr]) || {N, Pr} <- [{pub, public}, {prot, protected}, {priv, private}]], ets:insert(prot, {a, 1}), ets:insert(priv, {a, 1}), S ! ready, receive give -> ets:give_away(pub, S, data) end, receive stop -> ok end end), receive ready -> ok end,
    t:p(ets:insert(pub, {x, 1})), t:p(ets:lookup(prot, a)), t:pc(fun() -> ets:insert(prot, {b, 2}) end), t:pc(fun() -> ets:lookup(priv, a) end), t:p(ets:info(priv, protection)), P ! give, t:p(receive {'ETS-TRANSFER', pub, P, D} -> D end), t:p(ets:info(pub, owner) =:= S), M = monitor(process, P), P ! stop, receive {'DOWN', M, _, _, _} -> ok end, t:p([ets:whereis(N) =:= undefined || N <- [pub, prot, priv]]),
    Q = spawn(fun() -> T = ets:new(h, [{heir, S, heritage}]), ets:insert(T, {k, v}), exit(normal) end), t:p(receive {'ETS-TRANSFER', T, Q, H} -> {H, ets:lookup(T, k), ets:info(T, owner) =:= S} end), T2 = ets:new(s, []), t:p(ets:setopts(T2, {heir, none})), t:pc(fun() -> ets:give_away(T2, S, x) end), t:pc(fun() -> ets:setopts(T2, {bad, x}) end),
    t:p(ets:safe_fixtable(T2, true)), ets:insert(T2, [{I} || I <- lists:seq(1, 100)]), K = ets:first(T2), t:p(del(T2, K, 0)), t:p(ets:info(T2, size)), t:p(ets:safe_fixtable(T2, false)), t:p(ets:info(T2, safe_fixed)), t:p(lists:member(T2, ets:all())).
del(_, '$end_of_table', N) -> N; del(T, K, N) -> ets:delete(T, K), del(T, ets:next(T, K), N + 1).
