%% Match specifications with several heads on ordered sets: the range that their keys leave loses no
%% object, and a walk visits no more than that range.
-module(ets_several_heads).
-export([main/0]).

main() ->
    rand:seed(exsss, {2, 7, 1}),
    io:format("~p~n", [[differing(Kind) || Kind <- [pairs, lists, numbers, mixed]]]),
    io:format("~p~n", [ends()]),
    Me = self(),
    spawn_opt(fun() -> Me ! {charges, charges()} end, [{min_heap_size, 1000000}]),
    receive {charges, Charges} -> io:format("~w~n", [Charges]) end,
    halt().

key(pairs) -> {small(), small()};
key(lists) -> [small() || _ <- lists:seq(1, rand:uniform(4) - 1)] ++ one_of([[], [], small()]);
key(numbers) -> one_of([small(), float(small()), small() + 0.5]);
key(mixed) -> one_of([key(pairs), key(lists), key(numbers), {}, a, <<"b">>, {small()}, {key(pairs), small()}]).

small() -> rand:uniform(8).

one_of(List) -> lists:nth(rand:uniform(length(List)), List).

pattern(Key) ->
    case rand:uniform(5) of
        1 -> one_of(['_', '$1']);
        _ -> inside(Key)
    end.

inside(T) when is_tuple(T) -> list_to_tuple([pattern(E) || E <- tuple_to_list(T)]);
inside([H | T]) -> [pattern(H) | pattern(T)];
inside(Other) -> Other.

%% What a walk finds less or more than a walk through a list of all objects.
differing(Kind) ->
    T = ets:new(t, [ordered_set]),
    ets:insert(T, [{key(Kind), N} || N <- lists:seq(1, 400)]),
    Keys = [K || {K, _} <- ets:tab2list(T)],
    All = [differing(T, Kind, Keys) || _ <- lists:seq(1, 2000)],
    {Kind, length(Keys), [D || {D, _} <- All, D =/= []], erlang:phash2([Found || {_, Found} <- All])}.

differing(T, Kind, Keys) ->
    Heads = [head(one_of([one_of(Keys), key(Kind)])) || _ <- lists:seq(1, rand:uniform(4))],
    Spec = [{Head, [], ['$_']} || Head <- Heads],
    Expected = ets:match_spec_run(ets:tab2list(T), ets:match_spec_compile(Spec)),
    Found = ets:select(T, Spec),
    Back = ets:select_reverse(T, Spec),
    Count = ets:select_count(T, [{Head, [], [true]} || Head <- Heads]),
    Portions = portions(ets:select(T, Spec, 3)),
    PortionsBack = portions(ets:select_reverse(T, Spec, 3)),
    Wrong = [W || {W, false} <- [{select, Found =:= Expected},
                                 {reverse, lists:reverse(Back) =:= Expected},
                                 {count, Count =:= length(Expected)},
                                 {portions, Portions =:= Expected},
                                 {portions_back, PortionsBack =:= Back}]],
    {[{Heads, W} || W <- Wrong], length(Expected)}.

head(Key) ->
    case rand:uniform(30) of
        1 -> '_';
        2 -> {};
        3 -> {'$1', 1};
        _ -> {inside(Key), '_'}
    end.

portions('$end_of_table') -> [];
portions({Found, Next}) -> Found ++ portions(ets:select(Next)).

pairs() ->
    T = ets:new(t, [ordered_set]),
    ets:insert(T, [{{I rem 20, I}, I} || I <- lists:seq(1, 2000)]),
    T.

%% Maps, and numbers that are equal but not the same, at the ends.
ends() ->
    T = ets:new(t, [ordered_set]),
    ets:insert(T, [{{3, E}, n} || E <- [1, 2.0, a, {}, #{}, #{a => 1}, #{b => 1, c => 2}, [], <<>>]]),
    [begin
         Spec = [{{K, '_'}, [], ['$_']} || K <- Keys],
         [E || {{_, E}, _} <- ets:select(T, Spec)]
     end || Keys <- [[{3, 1.0}, {3, 2}], [{3, 1}, {3, 1.0}], [{3, 2.0}, {3, a}, {3, 1}], [{3.0, '_'}, {3, a}],
                     [{3, #{a => '_'}}, {3, 1}], [{3, 1}, {3, #{a => '_'}}, {3, <<>>}],
                     [{3, #{a => '_'}}, {3, #{b => 1, c => 2}}], [{3, #{a => 1}}, {3, #{b => 1, c => 2}}],
                     [{3, #{b => 1, c => 2}}, {3, #{}}], [{3, #{a => '$1'}}, {3, {}}, {4, '_'}]]].

%% Reductions of walks through a table of 2,000 objects, a hundred for each first element of a key.
charges() ->
    T = pairs(),
    Lists = [[{3, '_'}], [{3, 3}], [{99, '_'}], [{{3}, '_'}], [{3, '_'}, {4, '_'}], [{4, '_'}, {3, '_'}], [{3, 3}, {3, 23}, {3, 43}], [{3, 3}, {3, 3}],
             [{3, 43}, {4, '_'}, {3, 63}], [{3, '_'}, {'_', 4}], [{3, '$1'}, foo], [{99, '_'}, {98, '_'}],
             [{3.0, '_'}, {3, '_'}], [{3, 3}, {3, 4}], [{3, 3}, {3.0, 3}], [{7, 7}, {5, '_'}]],
    Walks = [begin
                 Spec = [{{K, '_'}, [], ['$_']} || K <- Keys],
                 True = [{{K, '_'}, [], [true]} || K <- Keys],
                 {Keys, length(ets:select(T, Spec)),
                  [charge(fun() -> ets:select(T, Spec) end),
                   charge(fun() -> ets:select_reverse(T, Spec) end),
                   charge(fun() -> ets:select_count(T, True) end),
                   charge(fun() -> ets:select(T, Spec, 5) end),
                   charge(fun() -> ets:select(T, Spec, 1) end),
                   charge(fun() -> ets:select_reverse(T, Spec, 5) end)]}
             end || Keys <- Lists],
    Replaced = [charge(fun() ->
                               ets:select_replace(T, [{{{8, K}, '$1'}, [], [{{{{8, K}}, {'+', '$1', 1}}}]} || K <- Ks])
                       end) || Ks <- [[8, 28], [8], [28, 1988]]],
    Deleted = [charge(fun() -> ets:select_delete(T, [{{K, '_'}, [], [true]} || K <- Ks]) end)
               || Ks <- [[{3, 3}, {3, 23}], [{3, '_'}], [{4, '_'}, {5, '_'}], [{6, 6}, {6, 86}], [{7, 7}], [{9, 9}, {9, 9}]]],
    U = ets:new(u, [ordered_set]),
    ets:insert(U, [{I, I} || I <- lists:seq(1, 40)]),
    Whole = [charge(fun() -> ets:select(U, [{'$1', [], ['$1']}], N) end) || N <- [1, 39, 40, 41, 100]],
    {Walks, Whole, Replaced, Deleted, ets:info(T, size)}.

charge(F) ->
    erlang:yield(),
    {_, Before} = process_info(self(), reductions),
    F(),
    {_, After} = process_info(self(), reductions),
    After - Before.
