%% Ending a fixation takes time for what was deleted meanwhile, not for the whole table. Objects that were
%% deleted while it was fixed are gone after it, however many they are, and the table then grows and
%% shrinks as usual.
-module(ets_fix_often).
-export([main/0]).

main() ->
    [t:p({Type, often(Type)}) || Type <- [set, bag, duplicate_bag]],
    [t:p({Type, N, many(Type, N)}) || Type <- [set, bag], N <- [1, 10, 300, 5000, 20_000]].

%% A thousand times in a table of 200,000 rows
often(Type) ->
    T = table(Type, 200_000),
    {Time, ok} = timer:tc(fun() -> lists:foreach(fun(K) -> delete(T, [K]) end, lists:seq(1, 1000)) end),
    Result = {ets:info(T, size), kept(T), Time < 1_000_000},
    ets:delete(T),
    Result.

many(Type, N) ->
    T = table(Type, 20_000),
    delete(T, lists:seq(1, N)),
    Deleted = {ets:info(T, size), kept(T)},
    ets:insert(T, [{K} || K <- lists:seq(1, 60_000)]),
    delete(T, lists:seq(30_000, 30_000 + N)),
    [ets:delete(T, K) || K <- lists:seq(100, 60_000)],
    Result = {Deleted, ets:info(T, size), kept(T), lists:sum([K || {K} <- ets:tab2list(T)])},
    ets:delete(T),
    Result.

table(Type, N) ->
    T = ets:new(t, [Type]),
    ets:insert(T, [{K} || K <- lists:seq(1, N)]),
    T.

delete(T, Keys) ->
    ets:safe_fixtable(T, true),
    [ets:delete(T, K) || K <- Keys],
    ets:safe_fixtable(T, false),
    ok.

%% Objects that are deleted and still there
kept(T) -> element(7, ets:info(T, stats)).
