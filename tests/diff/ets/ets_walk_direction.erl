%% A walk through an ordered set that takes several turns: which of the objects that another process
%% inserts and deletes between two turns it finds. All on one scheduler.
-module(ets_walk_direction).
-export([main/0]).

main() ->
    {Pid, Monitor} = spawn_opt(fun all/0, [monitor, {scheduler, 1}, {min_heap_size, 2000000}]),
    receive {'DOWN', Monitor, process, Pid, normal} -> halt() end.

all() ->
    [t:p({Name, run(Walk, Limit)}) || {Name, Walk} <- walks(), Limit <- [500, 1500, 2500]].

%% Objects {N, old}, N = 2, 4, .. 6000; the other process waits until the walk has begun.
run(Walk, Near) ->
    T = ets:new(t, [ordered_set, public]),
    ets:insert(T, [{2 * N, old} || N <- lists:seq(1, 3000)]),
    Me = self(),
    Other = spawn_opt(fun() -> receive go -> change(T, Near), Me ! changed end end, [{scheduler, 1}]),
    erlang:yield(),
    Other ! go,
    Found = Walk(T),
    receive changed -> ok end,
    Left = ets:tab2list(T),
    ets:delete(T),
    {Found, {length(Left), erlang:phash2(Left)}}.

%% Near both ends and in the middle.
change(T, K) ->
    [ets:insert(T, {N, new}) || N <- [1, 3, K + 1, 3001, 6001 - K, 5997, 5999, 6001, 6003]],
    [ets:delete(T, N) || N <- [2, K + 2, 3000, 6000 - K, 6000]].

new(L) -> {length(L), [N || {N, new} <- L]}.

walks() ->
    All = [{'_', [], ['$_']}],
    True = [{'_', [], [true]}],
    [{select, fun(T) -> new(ets:select(T, All)) end},
     {select_reverse, fun(T) -> new(ets:select_reverse(T, All)) end},
     {match_object, fun(T) -> new(ets:match_object(T, '_')) end},
     {match, fun(T) -> length(ets:match(T, {'$1', new})) end},
     {tab2list, fun(T) -> new(ets:tab2list(T)) end},
     {range, fun(T) -> new(ets:select(T, [{{'$1', '_'}, [{'>', '$1', 1}], ['$_']}])) end},
     {select_count, fun(T) -> ets:select_count(T, True) end},
     {select_count_new, fun(T) -> ets:select_count(T, [{{'_', new}, [], [true]}]) end},
     {select_delete, fun(T) -> ets:select_delete(T, True) end},
     {select_delete_new, fun(T) -> ets:select_delete(T, [{{'_', new}, [], [true]}]) end},
     {select_replace, fun(T) -> ets:select_replace(T, [{{'$1', new}, [], [{{'$1', newer}}]}]) end},
     {select_replace_all, fun(T) -> ets:select_replace(T, [{{'$1', '_'}, [], [{{'$1', newer}}]}]) end},
     {portions, fun(T) -> new(portions(ets:select(T, All, 700))) end},
     {portions_back, fun(T) -> new(portions(ets:select_reverse(T, All, 1700))) end}].

portions('$end_of_table') -> [];
portions({Found, Next}) -> Found ++ portions(ets:select(Next)).
