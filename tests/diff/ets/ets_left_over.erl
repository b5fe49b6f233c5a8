%% The order of results that one portion of select, match and match_object leaves over for the next, also with
%% insertions and deletions between the portions; and that a fixed table gives each object that stays in it once.
-module(ets_left_over).
-export([main/0]).

main() ->
    Kinds = [bag, duplicate_bag],
    [t:p({Kind, Limit, one_key(Kind, Limit)}) || Kind <- Kinds, Limit <- [1, 2, 3, 5]],
    [t:p({Kind, Limit, many_keys(Kind, Limit)}) || Kind <- [set | Kinds], Limit <- [1, 2, 7, 1000]],
    [t:p({Kind, Limit, after_long_walk(Kind, Limit)}) || Kind <- Kinds, Limit <- [1, 2, 3]],
    [t:p({Kind, Fixed, changed(Kind, Fixed)}) || Kind <- Kinds, Fixed <- [true, false]],
    t:p([histories(Kind, Fixed) || Kind <- [set | Kinds], Fixed <- [true, false]]).

%% Eight objects of one key, by each function.
one_key(Kind, Limit) ->
    T = ets:new(t, [Kind]),
    [ets:insert(T, {k, V}) || V <- lists:seq(1001, 1008)],
    [portions(First) || First <- [
        ets:select(T, [{{'_', '$1'}, [], ['$1']}], Limit),
        ets:select(T, [{{k, '$1'}, [], ['$1']}], Limit),
        ets:match(T, {'_', '$1'}, Limit),
        ets:match_object(T, {'_', '_'}, Limit)]].

many_keys(Kind, Limit) ->
    T = ets:new(t, [Kind]),
    [ets:insert(T, {K rem 1000, K}) || K <- lists:seq(1, 3000)],
    Portions = portions(ets:match_object(T, '$1', Limit)),
    {length(Portions), erlang:phash2(Portions), lists:sort(lists:append(Portions)) =:= lists:sort(ets:tab2list(T))}.

%% The first portion takes more than one time slice.
after_long_walk(Kind, Limit) ->
    T = ets:new(t, [Kind]),
    ets:insert(T, [{K, no} || K <- lists:seq(1, 10_000)]),
    [ets:insert(T, {K, {yes, V}}) || K <- [17, 5000, 9999], V <- lists:seq(1, 7)],
    portions(ets:select(T, [{{'$1', {yes, '$2'}}, [], [{{'$1', '$2'}}]}], Limit)).

changed(Kind, Fixed) ->
    T = ets:new(t, [Kind]),
    [ets:insert(T, {K, V}) || K <- lists:seq(1, 4), V <- lists:seq(1, 5)],
    ets:safe_fixtable(T, Fixed),
    Change = fun(N) ->
        K = 1 + N rem 4,
        ets:delete_object(T, {K, 3}),
        ets:insert(T, {K, {new, N}}),
        ets:insert(T, {K, 3}),
        N rem 3 =:= 0 andalso ets:delete(T, 1 + (N + 1) rem 4)
    end,
    portions(ets:match_object(T, '_', 2), 1, Change).

portions(Portion) -> portions(Portion, 1, fun(_) -> ok end).

portions('$end_of_table', _, _) -> [];
portions({Found, Continuation}, N, Between) ->
    Between(N),
    [Found | portions(ets:select(Continuation), N + 1, Between)].

%% A digest of random histories.
histories(Kind, Fixed) ->
    rand:seed(exsss, {7, 8, 9}),
    erlang:phash2([history(Kind, Fixed) || _ <- lists:seq(1, 100)]).

history(Kind, Fixed) ->
    T = ets:new(t, [Kind]),
    [insert(T) || _ <- lists:seq(1, 60)],
    [ets:insert(T, {stays, V}) || V <- lists:seq(1, 9)],
    ets:safe_fixtable(T, Fixed),
    Stay = ets:lookup(T, stays),
    Portions = portions(ets:match_object(T, '_', rand:uniform(4)), 1, fun(_) -> change(T) end),
    Once = lists:sort([O || {stays, _} = O <- lists:append(Portions)]) =:= lists:sort(Stay),
    Once orelse t:p({not_once, Stay, Portions}),
    {Portions, ets:tab2list(T)}.

insert(T) -> ets:insert(T, {rand:uniform(9), rand:uniform(4)}).

change(T) ->
    case rand:uniform(4) of
        1 -> insert(T);
        2 -> ets:delete(T, rand:uniform(9));
        3 -> ets:delete_object(T, {rand:uniform(9), rand:uniform(4)});
        4 -> ets:select_delete(T, [{{rand:uniform(9), rand:uniform(4)}, [], [true]}])
    end.
