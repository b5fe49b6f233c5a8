%% Elements of objects that change in place, and all around it that must not: other sizes of integers,
%% elements with memory of their own, large objects, objects that are gone, keys. And what was looked
%% up before stays as it was.
-module(ets_in_place).
-export([main/0]).

main() ->
    [run(Opts) || Opts <- [[set], [set, {keypos, 2}], [ordered_set], [bag]]],
    fixed(),
    shared(),
    equal_keys().

run(Opts) ->
    t:p(Opts),
    T = ets:new(t, Opts),
    Large = list_to_tuple([k, large | lists:seq(1, 40)]),
    Deep = {deep, d, 1, {2, [3, <<"four">>]}, 5.0, <<0:1000>>, 7},
    [ets:insert(T, O) || O <- [{small, s, 1, 2}, Large, Deep, {one}, {edge, e, 1 bsl 59 - 1, -(1 bsl 59)}],
                         tuple_size(O) >= 2],
    Keys = [small, k, deep, edge, s, large, d, e, none],
    Specs = [1, 0, -5, 1 bsl 62, {3, 1}, {3, -1}, {4, 1}, {4, -1}, {4, 1 bsl 59}, {2, 1}, {1, 1}, {0, 1}, {-1, 1},
             {99, 1}, {5, 1}, {7, 3}, {42, 2}, {3, 1.0}, {a, 1}, [{3, 1}, {3, 2}], {3, 1, 0, 7}],
    [t:pc(fun() -> {K, S, ets:update_counter(T, K, S), ets:lookup(T, K)} end) || K <- Keys, S <- Specs],
    Elements = [{3, a}, {3, 7}, {4, []}, {4, self}, {3, {boxed}}, {3, 1.5}, {3, 9}, {1, x}, {2, y}, {0, z}, {9, z},
                {3, 1 bsl 70}, {a, b}, [{3, 1}, {4, 2}], {42, last}, {3, 0}],
    [t:pc(fun() -> {K, E, ets:update_element(T, K, E), ets:lookup(T, K)} end) || K <- Keys, E <- Elements],
    t:p(lists:sort(ets:tab2list(T))),
    ets:delete(T).

%% Objects that are gone while a table is fixed, and come again.
fixed() ->
    T = ets:new(t, [set]),
    ets:insert(T, [{K, K, 0} || K <- lists:seq(1, 50)]),
    ets:safe_fixtable(T, true),
    [ets:delete(T, K) || K <- lists:seq(1, 50, 3)],
    t:p([catch_class(fun() -> ets:update_counter(T, K, {3, K}) end) || K <- lists:seq(1, 12)]),
    t:p([ets:update_element(T, K, {2, new}) || K <- lists:seq(1, 12)]),
    ets:insert(T, [{K, again, 1} || K <- lists:seq(1, 10, 3)]),
    t:p([catch_class(fun() -> ets:update_counter(T, K, {3, K}) end) || K <- lists:seq(1, 12)]),
    ets:safe_fixtable(T, false),
    t:p(lists:sort(ets:tab2list(T))),
    t:p(ets:info(T, size)).

catch_class(Fun) ->
    try Fun() catch Class:Reason -> {Class, Reason} end.

%% What was read, or put in, is a copy.
shared() ->
    T = ets:new(t, [set]),
    Mine = {key, 1, [a, {b}], <<"bytes">>},
    ets:insert(T, Mine),
    [Before] = ets:lookup(T, key),
    2 = ets:update_counter(T, key, 1),
    true = ets:update_element(T, key, {2, []}),
    erlang:garbage_collect(),
    t:p({Mine, Before, ets:lookup(T, key), ets:lookup_element(T, key, 3)}),
    t:p(ets:update_counter(T, new, {2, 5}, {default, 10, x})),
    t:p(ets:update_counter(T, new, {2, 5}, {default, 10, x})),
    t:p(ets:lookup(T, new)).

%% In an ordered set a key is found by a number of the other kind, and stays what it was.
equal_keys() ->
    T = ets:new(t, [ordered_set]),
    ets:insert(T, [{1, 10, a}, {2.0, 20, <<0:4000>>}, {{x, 3}, 30, {own}}, {{x, 4.0}, 40, []}]),
    Keys = [1.0, 1, 2, 2.0, {x, 3.0}, {x, 4}, 5],
    t:p([catch_class(fun() -> {K, ets:update_counter(T, K, {2, 1})} end) || K <- Keys]),
    t:p([{K, ets:update_element(T, K, {2, K})} || K <- Keys]),
    t:p([{K, ets:update_element(T, K, [{2, 1}, {3, K}])} || K <- Keys]),
    t:p([catch_class(fun() -> {K, ets:update_counter(T, K, {2, 1 bsl 64})} end) || K <- Keys]),
    t:p(ets:tab2list(T)),
    t:p([ets:take(T, K) || K <- Keys]),
    t:p(ets:info(T, size)).
