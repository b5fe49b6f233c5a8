%% Maps, tables, tuples, records, the process dictionary.
-module(work_data).
-export([programs/0]).

-record(account, {owner, balance = 0, limit = 1000, history = []}).

programs() ->
    Small = maps:from_list([{key(I), I} || I <- lists:seq(0, 19)]),
    Large = maps:from_list([{{user, I}, I} || I <- lists:seq(1, 20000)]),
    [{map_put, fun() -> map_put(Small, 20000) end, 20000},
     {map_get, fun() -> map_get(Small, 40000, 0) end, 380000},
     {map_large, fun() -> map_large(Large, 2000) end, 22000},
     {ets_insert, fun ets_insert/0, 10000},
     {ets_get, fun() -> lists:sum([ets_get() || _ <- lists:seq(1, 8)]) end, 64016000},
     {tuples, fun() -> tuples(100000, {0, 1, 2, 3, 4, 5, 6, 7}) end, 100000},
     {records, fun() -> records(40000, #account{owner = lab}) end, {lab, 40000, 3}},
     {dictionary, fun() -> dictionary(40000) end, 40000}].

key(I) -> element(I rem 20 + 1, {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t}).

map_put(Map, 0) -> maps:get(a, Map);
map_put(Map, N) ->
    #{a := A, c := C} = Map,
    map_put(Map#{a := 20000, c => C + 1, b => A}, N - 1).

map_get(_, 0, Sum) -> Sum;
map_get(Map, N, Sum) ->
    Key = key(N),
    #{Key := Value} = Map,
    map_get(Map, N - 1, Sum + Value).

map_large(Map, 0) -> maps:size(Map);
map_large(Map, N) ->
    N = maps:get({user, N}, Map),
    map_large(maps:put({more, N}, N, Map), N - 1).

ets_insert() ->
    Table = ets:new(work, [set]),
    [ets:insert(Table, {I, I, <<"value">>}) || I <- lists:seq(1, 10000)],
    Size = ets:info(Table, size),
    ets:delete(Table),
    Size.

%% The table is made once; it goes with its process.
ets_get() ->
    Table = case get(table) of
                undefined ->
                    New = ets:new(work, [set]),
                    ets:insert(New, [{I, {I, <<"value">>}} || I <- lists:seq(1, 4000)]),
                    put(table, New),
                    New;
                Known -> Known
            end,
    ets_get(Table, 4000, 0).

ets_get(_, 0, Sum) -> Sum;
ets_get(Table, N, Sum) ->
    [{N, {V, _}}] = ets:lookup(Table, N),
    ets_get(Table, N - 1, Sum + V).

tuples(0, T) -> element(1, T);
tuples(N, T) ->
    {A, B, C, D, E, F, G, H} = T,
    Next = {A + 1, C, B, E, D, G, F, H},
    tuples(N - 1, setelement(8, Next, element(2, Next))).

records(0, #account{owner = Owner, balance = Balance, history = History}) ->
    {Owner, Balance, length(History)};
records(N, Account = #account{balance = Balance, limit = Limit}) when Limit > 0 ->
    records(N - 1, Account#account{balance = Balance + 1, history = [N, Balance, Limit]}).

dictionary(N) ->
    put(counter, 0),
    count(N),
    erase(counter).

count(0) -> ok;
count(N) -> put(counter, get(counter) + 1), count(N - 1).
