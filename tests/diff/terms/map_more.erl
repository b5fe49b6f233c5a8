%% Maps in patterns and updates: keys from variables and terms of all kinds, exact
%% updates that fail, nesting, many keys at once.
-module(map_more).
-export([main/0]).
main() ->
    K = t:id(key), M = t:id(#{a => 1, {b, 2} => x, "s" => [y], 1.0 => f, 1 => i, <<"bin">> => z, #{in => 1} => deep, [] => nil, key => val}),
    #{K := V, {b, 2} := X, "s" := [Y], 1 := I, 1.0 := F, <<"bin">> := Z, #{in => 1} := D, [] := N} = M, t:p({V, X, Y, I, F, Z, D, N}),
    t:p([case M of #{Q := R} -> {ok, R}; #{} -> none end || Q <- [a, b, {b, 2}, 1, 1.0, 2, "s", #{in => 1}, #{}, []]]),
    [t:p(t:st(Fun)) || Fun <- [fun() -> M#{nokey := 1} end, fun() -> (t:id(a))#{b => 1} end, fun() -> (t:id([]))#{b := 1} end, fun() -> #{zz := _} = M end, fun() -> map_get(t:id(q), M) end, fun() -> maps:get(q, M) end, fun() -> maps:update(q, 1, M) end, fun() -> M#{a := 2, no1 := 3, no2 := 4} end, fun() -> maps:get(a, t:id(x)) end]],
    t:p(M#{a := 2, K => new, {new} => 3}), t:p(#{a => 1, a => 2, K => 3, key => 4}), t:p(map_size(M#{x1 => 1, x2 => 2, a => 3})),
    t:p([sz(X1) || X1 <- [#{}, #{a => 1}, #{a => 1, b => 2}, #{b => 9, c => 1}, a]]), t:p(nest(#{a => #{b => #{c => [#{d => 5}]}}})), t:p(case #{a => 1, b => 2} of #{a := W, b := W} -> same; #{a := W} -> {w, W} end),
    t:p(lists:foldl(fun(J, A) -> A#{J => J * J} end, #{}, lists:seq(1, 33))), Big = maps:from_list([{J, -J} || J <- lists:seq(1, 1000)]), #{1 := A1, 500 := A500, 1000 := A1000} = Big, t:p({A1, A500, A1000}),
    t:p(t:c(fun() -> Big#{1001 := x} end) =:= {error, {badkey, 1001}}), Big2 = Big#{1 := one, 1001 => new, 2 := two}, t:p({map_size(Big2), map_get(1, Big2), map_get(1001, Big2), map_get(3, Big2)}), t:p([Big =:= maps:from_list(lists:reverse(maps:to_list(Big))), Big == Big2, Big < Big2, Big2 > #{a => 1}]),
    t:p(upd(#{n => 1})), t:p(maps:fold(fun(K1, V1, S) -> S + K1 * V1 end, 0, Big)), t:p(lists:sort(maps:keys(maps:filter(fun(K2, _) -> K2 rem 333 =:= 0 end, Big)))), t:p(maps:size(maps:without(lists:seq(1, 990), Big))), t:p(maps:with([1, 2, 5000], Big)),
    t:p(#{<<>> => <<>>, a => #{}}), t:p([#{1 => a} =:= #{1.0 => a}, #{1 => a} == #{1.0 => a}, #{a => 1} == #{a => 1.0}, #{a => 1} =:= #{a => 1.0}, #{a => 1} < #{b => 0}, #{a => 2, b => 1} < #{a => 1, c => 0}, #{1 => x} < #{1.0 => x}]),
    t:p(lists:sort([#{b => 1}, #{a => 2}, #{}, #{a => 1, b => 2}, #{a => 1}, #{1.0 => 1}, #{1 => 1}])), t:p([is_map_key(a, M), is_map_key(zz, M), t:c(fun() -> is_map_key(a, t:id(1)) end)]),
    t:p(maps:merge_with(fun(_, A2, B2) -> A2 + B2 end, #{a => 1, b => 2}, #{b => 3, c => 4})), t:p(maps:intersect_with(fun(_, A3, B3) -> {A3, B3} end, #{a => 1, b => 2}, #{b => 3, c => 4})), t:p(maps:update_with(a, fun(A4) -> A4 + 1 end, 0, #{a => 1})), t:p(maps:filtermap(fun(_, 1) -> true; (_, 2) -> {true, two}; (_, _) -> false end, #{a => 1, b => 2, c => 3})),
    t:p(maps:groups_from_list(fun(E) -> E rem 3 end, lists:seq(1, 10))), t:p(maps:from_keys([a, b, a], 0)), t:p(maps:iterator(#{})), t:p(maps:next(maps:iterator(#{a => 1}))), t:p(chain(40, #{})).

sz(#{a := _, b := _}) -> both;
sz(#{a := A}) -> {a, A};
sz(M) when map_size(M) > 1 -> many;
sz(#{}) -> map;
sz(_) -> no.
nest(#{a := #{b := #{c := [#{d := D} | _]} = In}} = All) -> {D, In, maps:keys(All), All#{a => (maps:get(a, All))#{z => D}}}.
upd(#{n := N} = M) when N > 5 -> M;
upd(#{n := N} = M) -> upd(M#{n := N + 1, {seen, N} => true}).
chain(0, M) -> maps:size(M);
chain(N, M) -> M1 = M#{N => N, {N} => [N], [N] => {N}}, M2 = M1#{N := x, {N} := y}, chain(N - 1, maps:remove([N], M2)).
