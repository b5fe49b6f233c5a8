%% All kinds of terms, pairwise: every way to ask whether two are equal, and every order and hash,
%% must say the same.
%% until 29
%% OTP 29 takes some references of other nodes for different ones.
-module(term_paths_agree).
-export([main/0]).

main() ->
    All = terms() ++ containers(terms()),
    io:format("~p terms~n", [length(All)]),
    Pairs = [{A, B} || A <- All, B <- All],
    [io:format("~p: ~p~n", [Name, [shown(P) || P <- lists:sublist([P || P <- Pairs, not agrees(Name, P)], 3)]])
     || Name <- checks()],
    io:format("equal ~p, exactly ~p, less ~p~n",
              [count(fun({A, B}) -> A == B end, Pairs), count(fun({A, B}) -> A =:= B end, Pairs),
               count(fun({A, B}) -> A < B end, Pairs)]),
    io:format("round trip ~p~n", [[shown({T, T}) || T <- All, not round_trip(T)]]),
    sorted(All).

count(F, L) -> length(lists:filter(F, L)).
shown({A, B}) -> lists:flatten(io_lib:format("~W ~W", [A, 8, B, 8])).

checks() ->
    [matching, member, subtract, keyfind, phash2, phash, map_key, large_map_key, map_value, from_list,
     map_in_map, ets_set, ets_bag, ets_ordered_set, ets_match, ets_guard, keyfind_by_value, order,
     less_or_equal, max, in_tuple, in_list, in_map_order, receiving, dictionary, usort].

agrees(matching, {A, B}) -> case {A, B} of {X, X} -> A =:= B; _ -> A =/= B end;
agrees(member, {A, B}) -> lists:member(A, [B]) =:= (A =:= B);
agrees(subtract, {A, B}) -> ([A] -- [B] =:= []) =:= (A =:= B);
agrees(keyfind, {A, B}) -> (lists:keyfind(A, 1, [{B}]) =/= false) =:= (A == B);
agrees(keyfind_by_value, {A, B}) -> (lists:keysearch(A, 2, [{x, B}]) =/= false) =:= (A == B);
agrees(phash2, {A, B}) -> A =/= B orelse erlang:phash2(A) =:= erlang:phash2(B);
agrees(phash, {A, B}) -> A =/= B orelse apply(erlang, phash, [A, 1000000]) =:= apply(erlang, phash, [B, 1000000]);
agrees(map_key, {A, B}) -> is_map_key(A, #{B => 1}) =:= (A =:= B);
agrees(large_map_key, {A, B}) -> is_map_key(A, (big())#{B => 1}) =:= (is_map_key(A, big()) orelse A =:= B);
agrees(map_value, {A, B}) -> (#{k => A} =:= #{k => B}) =:= (A =:= B)
    andalso (#{k => A} == #{k => B}) =:= (A == B)
    andalso ((big())#{k => A} =:= (big())#{k => B}) =:= (A =:= B)
    andalso ((big())#{k => A} == (big())#{k => B}) =:= (A == B);
agrees(map_in_map, {A, B}) -> (#{#{A => 1} => 1} =:= #{#{B => 1} => 1}) =:= (A =:= B)
    andalso (#{A => 1} == #{B => 1}) =:= (A =:= B)
    andalso ((big())#{{A} => 1} == (big())#{{B} => 1}) =:= (A =:= B)
    andalso is_map_key((big())#{{A} => 1}, (big())#{((big())#{{B} => 1}) => 1}) =:= (A =:= B);
agrees(from_list, {A, B}) -> (map_size(maps:from_list([{A, 1}, {B, 2}])) =:= 1) =:= (A =:= B);
agrees(ets_set, {A, B}) -> in_table(set, fun(T) -> ets:insert(T, [{A}, {B}]), (ets:info(T, size) =:= 1) =:= (A =:= B) end);
agrees(ets_bag, {A, B}) -> in_table(bag, fun(T) -> ets:insert(T, [{1, A}, {1, B}]), (ets:info(T, size) =:= 1) =:= (A =:= B) end);
agrees(ets_ordered_set, {A, B}) ->
    in_table(ordered_set, fun(T) -> ets:insert(T, [{A}, {B}]), (ets:info(T, size) =:= 1) =:= (A == B)
        andalso (A == B orelse (ets:first(T) =:= A) =:= (A < B)) end);
agrees(ets_match, {A, B}) ->
    %% Constants of patterns go by their words in OTP, and maps match those with further keys.
    A == 0 orelse has_map(A) orelse
        in_table(set, fun(T) -> ets:insert(T, {1, B}), (ets:match(T, {1, A}) =:= [[]]) =:= (A =:= B) end);
agrees(ets_guard, {A, B}) ->
    MS = [{'$1', [{Op, {const, A}, '$1'}], [true]} || Op <- ['=:=']],
    (ets:match_spec_run([B], ets:match_spec_compile(MS)) =:= [true]) =:= (A =:= B)
        andalso (ets:match_spec_run([B], ets:match_spec_compile([{'$1', [{'<', {const, A}, '$1'}], [true]}])) =:= [true]) =:= (A < B);
agrees(order, {A, B}) -> length([x || true <- [A < B, A == B, A > B]]) =:= 1 andalso (A < B) =:= (B > A);
agrees(less_or_equal, {A, B}) -> (A =< B) =:= (A < B orelse A == B) andalso (A >= B) =:= (B =< A);
agrees(max, {A, B}) -> max(A, B) =:= (if A >= B -> A; true -> B end);
agrees(in_tuple, {A, B}) -> ({x, A} == {x, B}) =:= (A == B) andalso ({A, y} < {B, y}) =:= (A < B)
    andalso ({A, y} =:= {B, y}) =:= (A =:= B);
agrees(in_list, {A, B}) -> ([A] == [B]) =:= (A == B) andalso ([x | A] < [x | B]) =:= (A < B)
    andalso ([A, y] =:= [B, y]) =:= (A =:= B);
agrees(in_map_order, {A, B}) -> (#{a => A} < #{a => B}) =:= (A < B);
agrees(receiving, {A, B}) -> self() ! {m, A}, receive {m, B} -> A =:= B after 0 -> receive {m, _} -> A =/= B end end;
agrees(dictionary, {A, B}) -> put({A}, 1), R = get({B}) =:= 1, erase({A}), R =:= (A =:= B);
agrees(usort, {A, B}) -> (length(lists:usort([A, B])) =:= 1) =:= (A == B).

big() ->
    case get(big) of undefined -> put(big, maps:from_list([{{n, I}, I} || I <- lists:seq(1, 40)])), big(); M -> M end.
in_table(Type, F) -> T = ets:new(t, [Type]), R = F(T), ets:delete(T), R.
has_map(T) when is_map(T) -> true;
has_map(T) when is_tuple(T) -> lists:any(fun has_map/1, tuple_to_list(T));
has_map([H | T]) -> has_map(H) orelse has_map(T);
has_map(_) -> false.

round_trip(T) ->
    X = binary_to_term(term_to_binary(T)),
    Y = binary_to_term(term_to_binary(T, [compressed, {minor_version, 1}])),
    S = self(), P = spawn_link(fun() -> receive M -> S ! {back, M} end end), P ! T,
    receive {back, Z} -> ok end,
    X =:= T andalso Y =:= T andalso Z =:= T
        andalso io_lib:format("~w", [X]) =:= io_lib:format("~w", [Z])
        andalso erlang:phash2(X) =:= erlang:phash2(T)
        andalso is_map_key(X, (big())#{Z => 1}) andalso is_map_key(Z, #{X => 1}).

sorted(All) ->
    S = lists:sort(All),
    Ok = [x || {I, A} <- number(S), {J, B} <- number(S), I < J, A > B],
    io:format("out of order ~p~n", [length(Ok)]).
number(L) -> lists:zip(lists:seq(1, length(L)), L).

b(L) -> binary_to_term(iolist_to_binary([131 | L])).
node_name(N) -> [119, length(N), N].
pid(N, Num, Ser, Cr) -> b([88, node_name(N), <<Num:32, Ser:32, Cr:32>>]).
port(N, Num, Cr) -> b([120, node_name(N), <<Num:64, Cr:32>>]).
reference(N, Nums, Cr) -> b([90, <<(length(Nums)):16>>, node_name(N), <<Cr:32>>, [<<X:32>> || X <- Nums]]).

terms() ->
    [0, 1, -1, 7, 255, 256, 1 bsl 27, (1 bsl 59) - 1, 1 bsl 59, -(1 bsl 59), -(1 bsl 59) - 1, 1 bsl 64, -(1 bsl 64),
     1 bsl 200, 0.0, -0.0, 1.0, -1.0, 7.0, 1.0e300, -1.0e300, 18446744073709551616.0, 0.1,
     a, b, '', 'A', true, nil, [], [1], [1.0], [a | b], "abc", [97, 98, 99 | d], [1000], [[]], [[], []],
     {}, {1}, {1.0}, {a, b}, {{}}, {1, 2, 3}, {[], {}}, <<>>, <<1>>, <<1:1>>, <<1:2>>, <<128>>, <<"abc">>, <<"abcd">>,
     binary:copy(<<"x">>, 100), <<(binary:copy(<<"x">>, 100))/binary, 1:3>>, binary:part(<<"zabc">>, 1, 3),
     #{}, #{1 => 2}, #{1.0 => 2}, #{1 => 2.0}, #{a => b}, #{#{} => #{}}, big(), (big())#{1 => 1}, (big())#{1.0 => 1},
     fun lists:map/2, fun lists:map/3, fun lists:foldl/3, fun() -> a end, fun() -> b end,
     self(), pid("x@h", 1, 0, 1), pid("x@h", 1, 0, 2), pid("x@h", 2, 0, 1), pid("x@h", 1, 1, 1), pid("y@h", 1, 0, 1),
     port("x@h", 1, 1), port("x@h", 1, 2), port("x@h", 2, 1), port("x@h", 1 bsl 32, 1), port("y@h", 1, 1),
     reference("x@h", [1, 2, 3], 1), reference("x@h", [1, 2, 3], 2), reference("x@h", [1, 2, 4], 1),
     reference("x@h", [1, 2, 3, 0], 1), reference("x@h", [1, 2, 3, 0, 0], 1), reference("x@h", [1, 2, 3, 4], 1),
     reference("y@h", [1, 2, 3], 1)
     | [F(X) || X <- [1, 1.0, a, self(), #{}], F <- [fun captured/1]]].
captured(X) -> fun() -> X end.

containers(Ts) -> [F(T) || T <- pick(Ts, 0), F <- [fun(T1) -> [T1] end, fun(T1) -> {T1, x} end, fun(T1) -> #{T1 => 1} end,
                           fun(T1) -> #{1 => T1} end]].
pick([], _) -> [];
pick([T | R], N) when N rem 5 =:= 0 -> [T | pick(R, N + 1)];
pick([_ | R], N) -> pick(R, N + 1).
