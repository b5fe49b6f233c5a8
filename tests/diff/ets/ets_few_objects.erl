-module(ets_few_objects).
-export([main/0]).

%% Searches by a key that is bound, whole or in part, which visit few objects; beside the same ones by
%% a specification with a guard, which is compiled.
main() ->
    [searches(Kind, Keypos) || Kind <- [set, bag, duplicate_bag, ordered_set], Keypos <- [1, 2]],
    [refused(Kind) || Kind <- [set, ordered_set]],
    [fixed(Kind) || Kind <- [set, bag, duplicate_bag, ordered_set]],
    many().

keys() ->
    [1, 1.0, a, '$a', '_x', <<"b">>, "c", [], {}, {a, 1}, {a, 2}, {{a, 1}, b}, [a | b], #{a => 1}, 1 bsl 70,
     {a, [1, 2, 3]}, {a, {b, {c, {d, {e, {f, {g, {h, i}}}}}}}}].

object(1, K, V) -> {K, V, K};
object(2, K, V) -> {V, K, K}.

table(Kind, Keypos) ->
    T = ets:new(t, [Kind, public, {keypos, Keypos}]),
    [ets:insert(T, object(Keypos, K, V)) || K <- keys(), V <- [true, false, {v, K}, true]],
    T.

patterns(Keypos) ->
    Keys =
        keys() ++
            [{a, '$1'}, {a, '_'}, {'$1', '_'}, {{a, '$1'}, '$2'}, {{'_', 1}, b}, ['$1' | b], [a | '$1'], {'$1', '$1'},
             {a, ['$1', 2 | '$2']}, {a, {b, {c, {d, {e, {f, {g, {h, '$3'}}}}}}}}, missing, {a, missing, '_'}, #{a => '$1'},
             lists:seq(1, 70), {'_', '_'}, '$', '$x', '$1x', '$12', '_'],
    [object_of(Keypos, K, V, Last) || K <- Keys, V <- [true, '$1', '$7', {v, '_'}, '_'], Last <- ['_', K, '$1']].

object_of(1, K, V, Last) -> {K, V, Last};
object_of(2, K, V, Last) -> {V, K, Last}.

searches(Kind, Keypos) ->
    T = table(Kind, Keypos),
    Patterns = patterns(Keypos),
    All = [{P, [search(F, T, P) || F <- kinds()]} || P <- Patterns],
    t:p({Kind, Keypos, length(Patterns), erlang:phash2([[sorted(F) || F <- R] || {_, R} <- All])}),
    Orders = [order(T, P) || P <- Patterns],
    t:p({orders, lists:usort(Orders)}),
    Examples = [E || {N, E} <- lists:zip(lists:seq(1, length(All)), All), N rem 29 =:= 1],
    [t:p({P, [sorted(F) || F <- R]}) || {P, R} <- Examples],
    Deleted = [{delete(Kind, Keypos, P)} || P <- Patterns],
    t:p({deleted, erlang:phash2(Deleted), lists:sublist(Deleted, 40)}).

kinds() ->
    [fun ets:match/2, fun ets:match_object/2,
     fun(T, P) -> ets:select(T, [{P, [], ['$_']}]) end,
     fun(T, P) -> ets:select(T, [{P, [], ['$$']}]) end,
     fun(T, P) -> ets:select(T, [{P, [], ['$1']}]) end,
     fun(T, P) -> ets:select(T, [{P, [], [found]}]) end,
     fun(T, P) -> ets:select(T, [{P, [], ['_']}]) end,
     fun(T, P) -> ets:select_count(T, [{P, [], [true]}]) end,
     fun(T, P) -> ets:select_count(T, [{P, [], ['$1']}]) end,
     fun(T, P) -> ets:select_count(T, [{P, [], ['$_']}]) end,
     fun(T, P) -> ets:select_reverse(T, [{P, [], ['$_']}]) end].

%% By their bytes: 1 and 1.0 have an order.
sorted(L) when is_list(L) -> [X || {_, X} <- lists:sort([{term_to_binary(X), X} || X <- L])];
sorted(Other) -> Other.

search(F, T, P) ->
    try F(T, P) of
        {Found, _} -> Found;
        Found -> Found
    catch
        error:E -> E
    end.

%% Results come in the same order with a guard, which always holds.
order(T, P) ->
    [ets:select(T, [{P, [], [R]}]) =:= ets:select(T, [{P, [{'=:=', 1, 1}], [R]}]) || R <- ['$_', '$$', found]].

delete(Kind, Keypos, P) ->
    T = table(Kind, Keypos),
    Before = ets:info(T, size),
    N = try ets:select_delete(T, [{P, [], [true]}]) catch error:E -> E end,
    true = ets:match_delete(T, P),
    Left = ets:info(T, size),
    ets:delete(T),
    {Before, N, Left}.

refused(Kind) ->
    T = ets:new(t, [Kind, private]),
    ets:insert(T, {a, 1}),
    [t:p({R, reason(fun() -> ets:select(T, [{{a, '_'}, [], R}]) end)}) || R <- [['$2'], [], ['$_' | x], [['$_']], x]],
    [t:p(reason(fun() -> ets:select(T, S) end)) || S <- [x, [], [x], [{{a, '_'}, [], ['$_']} | x], [{{a, '_'}, x, ['$_']}], [{{a, '_'}, ['$_']}], [{x, [], ['$_']}], [{{}, [], ['$_']}]]],
    [t:p(reason(fun() -> F(T, {a, '_'}) end)) || F <- [fun ets:match/2, fun ets:match_object/2]],
    Self = self(),
    spawn(fun() -> Self ! [reason(fun() -> F(T, {a, '_'}) end) || F <- [fun ets:match/2, fun ets:match_object/2, fun ets:match_delete/2]] end),
    receive Refused -> t:p(Refused) end,
    ets:delete(T),
    [t:p(reason(fun() -> F(T, {a, '_'}) end)) || F <- [fun ets:match/2, fun ets:match_object/2, fun ets:match_delete/2]].

reason(F) ->
    try F() catch error:E -> E end.

%% Objects that were deleted while the table is fixed are not found.
fixed(Kind) ->
    T = table(Kind, 1),
    ets:safe_fixtable(T, true),
    ets:match_delete(T, {a, true, '_'}),
    t:p({Kind, ets:match(T, {a, '$1', '_'}), ets:select_count(T, [{{a, '_', '_'}, [], [true]}])}),
    ets:delete(T, {a, 1}),
    t:p({ets:match_object(T, {{a, 1}, '_', '_'}), ets:select_delete(T, [{{{a, 1}, '_', '_'}, [], [true]}])}),
    ets:safe_fixtable(T, false),
    t:p({ets:info(T, size), ets:match(T, {a, '$1', '_'})}).

many() ->
    B = ets:new(t, [duplicate_bag]),
    ets:insert(B, [{k, I} || I <- lists:seq(1, 2500)]),
    t:p({length(ets:match(B, {k, '_'})), hd(ets:match(B, {k, '$1'})), ets:select_count(B, [{{k, '_'}, [], [true]}])}),
    t:p({ets:select_delete(B, [{{k, '_'}, [], [true]}]), ets:info(B, size)}),
    O = ets:new(t, [ordered_set]),
    ets:insert(O, [{{k, I}, I} || I <- lists:seq(1, 2500)]),
    t:p({length(ets:match(O, {{k, '_'}, '_'})), lists:last(ets:match(O, {{k, '$1'}, '_'}))}),
    t:p({ets:select_delete(O, [{{{k, '_'}, '_'}, [], [true]}]), ets:info(O, size)}).
