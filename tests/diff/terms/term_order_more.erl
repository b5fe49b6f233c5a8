%% The order of all terms: every pair of a large mixed set compared by all operators,
%% laws that must hold, sorts, keys of ordered tables.
-module(term_order_more).
-export([main/0]).
main() ->
    Ts = [0, 1, -1, 0.0, -0.0, 1.0, 1.5, 1 bsl 53, (1 bsl 53) + 1, float(1 bsl 53), 1 bsl 64, float(1 bsl 64), -(1 bsl 64), 1.0e300, -1.0e300, 1 bsl 1100, -(1 bsl 1100), a, b, aa, '', 'Z', 'é', '日', true, [], [1], [1 | 2], [1, 2], [a], [[]], "abc", "abd", {}, {1}, {1.0}, {a}, {1, 2}, {1, 2, 3}, {b, 1}, #{}, #{a => 1}, #{a => 1.0}, #{a => 2}, #{b => 1}, #{1 => a}, #{1.0 => a}, #{a => 1, b => 2}, <<>>, <<0>>, <<1>>, <<1:1>>, <<0:1>>, <<255, 0>>, <<"abc">>, <<"ab", 3:2>>, fun lists:map/2, fun lists:map/3, fun lists:append/1],
    t:p(g:digest([{A < B, A =< B, A > B, A >= B, A == B, A /= B, A =:= B, A =/= B, erlang:max(A, B) =:= A} || A <- Ts, B <- Ts])), [t:p(A, [case {A < B, A > B} of {true, false} -> l; {false, true} -> g; {false, false} when A =:= B -> same; {false, false} -> eq end || B <- Ts]) || A <- Ts],
    t:p(lists:sort(Ts)), t:p(lists:usort(Ts)), t:p(lists:reverse(lists:sort(fun(A, B) -> A >= B end, Ts)) == lists:sort(Ts)), T = ets:new(x, [ordered_set]), [ets:insert(T, {X}) || X <- Ts], t:p([X || {X} <- ets:tab2list(T)]), S = gb_sets:from_list(Ts), t:p(gb_sets:size(S)),
    [] = [{A, B} || A <- Ts, B <- Ts, (A < B) =/= (B > A)], [] = [{A, B} || A <- Ts, B <- Ts, (A =< B) =/= not (A > B)], [] = [{A, B} || A <- Ts, B <- Ts, A =:= B, A /= B], [] = [{A, B, C} || A <- Ts, B <- Ts, A < B, C <- Ts, B < C, not (A < C)], [] = [{A, B} || A <- Ts, B <- Ts, A =:= B, erlang:phash2(A) =/= erlang:phash2(B)],
    P1 = spawn(fun() -> ok end), P2 = spawn(fun() -> ok end), R1 = make_ref(), R2 = make_ref(), t:p([P1 < P2, R1 < R2, P1 =:= P1, R1 == R1, a < P1, P1 < {}, R1 < P1, 1 < R1, a < R1, R1 < fun lists:map/2, fun lists:map/2 < P1]), Big = lists:seq(1, 1000), t:p([Big < Big ++ [0], Big =:= lists:seq(1, 1000), list_to_tuple(Big) < list_to_tuple(tl(Big)), list_to_tuple(Big) =:= list_to_tuple(Big)]), M1 = maps:from_list([{I, I} || I <- Big]), M2 = M1#{500 := 0}, t:p([M1 < M2, M2 < M1, M1 == M1#{500 := 500.0}, M1 =:= M1#{500 := 500.0}, M1 < maps:remove(1, M1), M1 > maps:put(0, 0, maps:remove(1000, M1))]), g:seed(51), Rs = g:times(800, fun(_) -> g:term(2) end), t:p(g:digest(lists:sort([R || R <- Rs, no_maps(R)]))), t:p(g:digest([A < B || {A, B} <- lists:zip(Rs, tl(Rs) ++ [x])])).
no_maps(M) when is_map(M) -> maps:size(M) < 2;
no_maps(T) when is_tuple(T) -> lists:all(fun no_maps/1, tuple_to_list(T));
no_maps([X | Y]) -> no_maps(X) andalso no_maps(Y);
no_maps(_) -> true.
