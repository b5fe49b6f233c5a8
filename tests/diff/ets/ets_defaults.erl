%% since 29
-module(ets_defaults).
-export([main/0]).

%% Changes of OTP 28 and 29: default objects are judged first, heirs without a gift, maps in keys.
main() ->
    T = ets:new(t, [{keypos, 2}]),
    true = ets:insert(T, {0, key, 0}),
    B = ets:new(b, [bag]),
    [show(F, A) || {F, A} <- [
        {update_counter, [T, key, {3, 1}, {0}]},
        {update_counter, [T, other, {3, 1}, {0}]},
        {update_counter, [T, other, {3, 1}, none]},
        {update_counter, [T, key, {3, 1}, {0, 0}]},
        {update_counter, [B, key, {3, 1}, {}]},
        {update_element, [T, key, {3, 1}, {0}]},
        {update_element, [T, other, {3, 1}, none]},
        {update_element, [T, key, {3, 2}, {0, 0}]},
        {update_element, [T, key, {0, 1}]},
        {update_element, [T, key, {-1, 1}]},
        {update_element, [T, key, {4, 1}]},
        {update_element, [T, key, {2, 1}]},
        {update_element, [T, key, {a, 1}]},
        {update_element, [T, key, [{3, 1}, {5, 1}]]},
        {update_element, [T, key, {1 bsl 70, 1}]},
        {update_element, [B, key, {2, 1}]},
        {update_element, [B, key, {2, 1}, {}]}]],
    io:format("~p~n", [ets:tab2list(T)]),
    heirs(),
    [keys(Kind) || Kind <- [set, ordered_set, bag, duplicate_bag]].

show(F, A) ->
    R = try apply(ets, F, A)
        catch error:E:Stack -> {E, maps:get(cause, proplists:get_value(error_info, element(4, hd(Stack))), none)}
        end,
    io:format("~p ~p: ~p~n", [F, tl(A), R]).

heirs() ->
    Self = self(),
    {P, M} = spawn_monitor(fun() ->
        T1 = ets:new(one, [public, {heir, Self}]),
        T2 = ets:new(two, [public, {heir, Self, gift}]),
        T3 = ets:new(three, [public]),
        true = ets:setopts(T3, {heir, Self}),
        Bad = [catch element(1, element(2, catch ets:setopts(T3, O)))
               || O <- [{heir, none, 1}, {heir, name}, {heir, Self, 1, 2}, [{heir, Self}, {heir, none}]]],
        Self ! {tables, [T1, T2, T3], Bad} end),
    All = receive {tables, Ts, Bad} -> io:format("~p~n", [Bad]), Ts end,
    receive {'DOWN', M, _, P, Why} -> io:format("~p~n", [Why]) end,
    [io:format("~p ~p~n", [ets:info(T, name), ets:info(T, owner) =:= Self]) || T <- All],
    io:format("~p~n", [[element(4, X) || X <- messages()]]).

messages() ->
    receive M -> [M | messages()] after 0 -> [] end.

keys(Kind) ->
    T = ets:new(t, [Kind]),
    true = ets:insert(T, [{{M, 1}, x} || M <- [#{}, #{a => 1}, #{a => 1, b => 2}]]),
    true = ets:insert(T, {{#{a => 1}, 2}, x}),
    true = ets:insert(T, {#{a => 1}, y}),
    Count = fun(Key) -> ets:select_count(T, [{{Key, '_'}, [], [true]}]) end,
    io:format("~p ~p~n", [Kind, [Count(K) || K <- [{#{}, 1}, {#{a => 1}, 1}, {#{b => 2}, 1}, {#{}, '_'},
                                                   {#{a => '_'}, 2}, #{}, #{a => 1}, #{c => 1}]]]),
    io:format("~p~n", [length(ets:match_object(T, {{#{}, 1}, '_'}))]),
    true = ets:match_delete(T, {{#{a => 1}, 1}, '_'}),
    io:format("~p~n", [ets:info(T, size)]).
