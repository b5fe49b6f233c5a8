%% update_element and take in tables whose second element is the key: values of every size, wrong
%% specifications, tables that are fixed, and memory afterwards.
-module(ets_update_element).
-export([main/0]).

main() ->
    [kind(Kind) || Kind <- [set, ordered_set]],
    halt().

kind(Kind) ->
    T = ets:new(t, [Kind, {keypos, 2}]),
    ets:insert(T, {a, k, <<"v">>, [1]}),
    Specs = [{3, <<"x">>}, {3, "list"}, {2, k}, {2, "k"}, {0, "x"}, {5, "y"}, {9, z}, {a, "b"}, {3}, [],
             [{1, "q"}, {3, z}], [{1, "q"}, {2, z}], [{3, <<"w">>} | x], x, [{3, {Kind, 1 bsl 70}}]],
    io:format("~p~n", [[{Spec, update(T, Key, Spec)} || Key <- [k, none, 1, 1.0], Spec <- Specs]]),
    io:format("~p~n", [ets:tab2list(T)]),
    Before = ets:info(T, memory),
    update(T, k, {4, lists:seq(1, 100)}),
    Large = ets:info(T, memory),
    update(T, k, {4, []}),
    io:format("~p~n", [{Large - Before, ets:info(T, memory) - Large, ets:info(T, size)}]),
    ets:safe_fixtable(T, true),
    io:format("~p~n", [[ets:take(T, k), ets:take(T, k), update(T, k, {3, "x"}), ets:insert(T, {z, k, 1, 1}),
                        update(T, k, {3, "x"}), ets:take(T, k), ets:info(T, size)]]),
    ets:safe_fixtable(T, false),
    io:format("~p~n", [[ets:insert(T, {z, 1.0, 1, 1}), update(T, 1, {3, "x"}), ets:take(T, 1),
                        ets:tab2list(T), ets:info(T, memory) - Before]]),
    ets:delete(T).

update(T, Key, Spec) ->
    try ets:update_element(T, Key, Spec)
    catch error:Reason -> Reason
    end.
