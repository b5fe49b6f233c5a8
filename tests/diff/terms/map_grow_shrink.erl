%% Maps over the border of small and large, by every operation, and what is shared.
-module(map_grow_shrink).
-export([main/0]).
main() ->
    [begin M = maps:from_list([{I, {I}} || I <- lists:seq(1, N)]), L = lists:sort(maps:to_list(M)),
    t:p(N, {map_size(M), erlang:phash2(M), M =:= lists:foldl(fun({K, V}, A) -> A#{K => V} end, #{}, lists:reverse(L)), M =:= maps:from_list(L ++ L), map_size(maps:remove(1, M)), maps:remove(1, M#{1 => x}) =:= maps:remove(1, M), lists:sort(maps:keys(maps:filter(fun(K, _) -> K rem 2 =:= 0 end, M))) =:= [I || I <- lists:seq(1, N), I rem 2 =:= 0], erlang:phash2(lists:sort(maps:to_list(maps:merge(M, #{0 => z, 1 => w})))), maps:merge(M, M) =:= M, maps:with([1, 2, 99], M) =:= maps:from_list([{I, {I}} || I <- [1, 2], I =< N]), map_size(maps:without([1, 2, 99], M)), lists:sum(maps:fold(fun(K, _, A) -> [K | A] end, [], M)), term_to_binary(M) =:= term_to_binary(maps:from_list(L)) orelse N > 32, binary_to_term(term_to_binary(M)) =:= M, maps:find(N, M), maps:get(N + 1, M, none), is_map_key(N, M), M#{new => 1} > M, maps:intersect(M, #{1 => a, 2 => b}) =:= maps:with([1, 2], maps:from_list([{1, a}, {2, b}])) orelse N < 2}) end || N <- [1, 2, 31, 32, 33, 34, 64, 100, 1000]], B = maps:from_list([{{k, I}, I} || I <- lists:seq(1, 40)]), D = lists:foldl(fun(I, A) -> maps:remove({k, I}, A) end, B, lists:seq(1, 10)),
    t:p([map_size(D), D =:= maps:from_list([{{k, I}, I} || I <- lists:seq(11, 40)]), erlang:phash2(D), maps:from_list(lists:sort(maps:to_list(D))) =:= D]),
    t:p([B#{{k, 1} := new} =:= maps:update({k, 1}, new, B), t:c(fun() -> B#{none := 1} end), t:c(fun() -> maps:update(none, 1, B) end), t:c(fun() -> maps:get(none, B) end)]) , I1 = maps:iterator(B), W = fun W(I) -> case maps:next(I) of none -> []; {K, _, I2} -> [K | W(I2)] end end,
    t:p([W(I1) =:= maps:keys(B), length(W(maps:iterator(#{})))]),
    t:p(maps:groups_from_list(fun(X) -> X rem 3 end, lists:seq(1, 10))),
    t:p(maps:groups_from_list(fun(X) -> X rem 2 end, fun(X) -> {X} end, [1, 2, 3])),
    m:fs(maps, [from_keys], [[[], [a, b, a], lists:seq(1, 3), x, [a | b]], [v]]),
    m:f(maps, merge_with, [[fun(_, X, Y) -> {X, Y} end], [#{a => 1, b => 2}, #{}], [#{b => 3, c => 4}, #{}]]),
    m:f(maps, intersect_with, [[fun(_, X, Y) -> {X, Y} end], [#{a => 1, b => 2}, #{}], [#{b => 3, c => 4}, #{}]]),
    t:p([maps:update_with(a, fun(X) -> X + 1 end, #{a => 1}), maps:update_with(z, fun(X) -> X end, init, #{}), t:c(fun() -> maps:update_with(z, fun(X) -> X end, #{}) end), maps:take(a, #{a => 1}), maps:take(b, #{a => 1}), maps:filtermap(fun(_, V) -> V > 1 andalso {true, V * 2} end, #{a => 1, b => 2}), maps:foreach(fun(_, _) -> x end, #{a => 1})]).
