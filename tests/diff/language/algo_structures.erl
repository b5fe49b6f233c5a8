%% Data structures of the standard library, filled by a seeded generator: dict,
%% sets, gb_trees, queue, array, digraph, orddict, proplists, sofs.
-module(algo_structures).
-export([main/0]).
main() ->
    g:seed(9), Ks = [g:int(500) || _ <- lists:seq(1, 2000)],
    D = lists:foldl(fun(K, A) -> dict:update_counter(K rem 97, 1, A) end, dict:new(), Ks), t:p({dict:size(D), lists:sum([V || {_, V} <- dict:to_list(D)]), g:digest(lists:sort(dict:to_list(D)))}), t:p(dict:fold(fun(K, V, A) -> K * V + A end, 0, dict:filter(fun(K, _) -> K rem 2 =:= 0 end, D))),
    {S1, S2} = {sets:from_list(Ks), sets:from_list([K * 2 || K <- Ks], [{version, 2}])}, t:p([sets:size(S1), sets:size(S2), sets:size(sets:intersection(S1, S2)), sets:size(sets:union(S1, S2)), sets:is_subset(S1, S2), g:digest(lists:sort(sets:to_list(sets:subtract(S1, S2))))]),
    T = lists:foldl(fun(K, A) -> gb_trees:enter(K, {K}, A) end, gb_trees:empty(), Ks), t:p({gb_trees:size(T), gb_trees:smallest(T), gb_trees:largest(T), g:digest(gb_trees:to_list(T)), gb_trees:lookup(9999, T)}), T2 = lists:foldl(fun gb_trees:delete_any/2, T, lists:seq(0, 400)), t:p(gb_trees:size(gb_trees:balance(T2))), t:p(element(1, gb_trees:take_smallest(T2))),
    It = gb_trees:next(gb_trees:iterator_from(450, T)), t:p(element(1, It)), Gs = gb_sets:from_list(Ks), t:p({gb_sets:size(Gs), gb_sets:fold(fun(X, A) -> X + A end, 0, Gs), gb_sets:is_member(77, Gs)}),
    Q = lists:foldl(fun(K, A) when K rem 3 =:= 0 -> queue:drop(queue:in(K, queue:in(K, A))); (K, A) -> queue:in_r(K, A) end, queue:new(), Ks), t:p({queue:len(Q), queue:peek(Q), queue:peek_r(Q), g:digest(queue:to_list(Q)), queue:len(queue:filter(fun(X) -> X > 250 end, Q))}),
    A = lists:foldl(fun({I, K}, Ar) -> array:set(I * 7 rem 1000, K, Ar) end, array:new({default, -1}), lists:enumerate(Ks)), t:p({array:size(A), array:get(7, A), array:get(5000, A), g:digest(array:to_list(A)), array:sparse_foldl(fun(_, V, X) -> V + X end, 0, A)}), t:pc(fun() -> array:get(-1, A) end), t:p(array:to_list(array:resize(5, A))),
    G = digraph:new(), [digraph:add_vertex(G, V) || V <- lists:seq(0, 30)], [digraph:add_edge(G, K rem 31, K * 3 rem 31) || K <- lists:sublist(Ks, 40)], t:p({digraph:no_edges(G), length(digraph_utils:components(G)), lists:sort(lists:map(fun length/1, digraph_utils:strong_components(G))), lists:sort(digraph_utils:reachable([1], G)) =/= []}), t:p(digraph:get_short_path(G, 1, hd(digraph:out_neighbours(G, 1) ++ [1])) =/= x), digraph:delete(G),
    O = lists:foldl(fun(K, X) -> orddict:update(K rem 50, fun(V) -> V + 1 end, 1, X) end, orddict:new(), Ks), t:p(g:digest(O)), t:p(orddict:merge(fun(_, X, Y) -> X + Y end, [{a, 1}, {c, 2}], [{a, 5}, {b, 3}])), P = [a, {b, 1}, {b, 2}, c, {d, true}, {e, false}], t:p([proplists:get_value(K, P, no) || K <- [a, b, c, d, e, f]]), t:p([proplists:get_all_values(b, P), proplists:is_defined(z, P), proplists:compact(P), proplists:unfold(P), proplists:delete(b, P), proplists:get_bool(e, P), proplists:split(P, [b, a]), proplists:to_map([x, {y, 1}])]),
    F = sofs:relation([{1, a}, {2, b}, {1, c}]), t:p([sofs:to_external(X) || X <- [sofs:domain(F), sofs:range(F), sofs:converse(F), sofs:relation_to_family(F), sofs:restriction(F, sofs:set([1]))]]), t:p(ordsets:union([[1, 3], [2, 3], [5]])), t:p(ordsets:subtract(lists:usort(Ks), lists:seq(0, 490))),
    t:p(lists:sublist(lists:reverse(lists:keysort(2, maps:to_list(lists:foldl(fun(K, M) -> maps:update_with(K, fun(N) -> N + 1 end, 1, M) end, #{}, Ks)))), 1) =/= []), t:p(heap([5, 3, 8, 1, 9, 2])), t:p(huffman("the quick brown fox jumps over the lazy dog and runs away")), t:p(dijkstra(#{a => [{b, 7}, {c, 9}, {f, 14}], b => [{c, 10}, {d, 15}], c => [{d, 11}, {f, 2}], d => [{e, 6}], f => [{e, 9}], e => []}, a)), t:p(trie(["tea", "ten", "to", "inn", "in"])), t:p(lru(3, [1, 2, 3, 1, 4, 5, 1, 2])), t:p(uf(10, [{1, 2}, {3, 4}, {2, 3}, {7, 8}])).
heap(L) -> hsort(lists:foldl(fun(X, H) -> merge({X, nil, nil}, H) end, nil, L)).
merge(nil, H) -> H;
merge(H, nil) -> H;
merge({X, L, R}, {Y, _, _} = H) when X =< Y -> {X, merge(R, H), L};
merge(H, {Y, L, R}) -> {Y, merge(R, H), L}.
hsort(nil) -> [];
hsort({X, L, R}) -> [X | hsort(merge(L, R))].
huffman(S) -> Freq = maps:to_list(lists:foldl(fun(C, M) -> M#{C => maps:get(C, M, 0) + 1} end, #{}, S)), T = build(lists:sort([{N, C} || {C, N} <- Freq])), Codes = maps:from_list(codes(T, <<>>)), B = << <<(maps:get(C, Codes))/bits>> || C <- S >>, S = decode(B, T, T), {bit_size(B), erlang:phash2(B)}.
build([{_, T}]) -> T;
build([{A, X}, {B, Y} | R]) -> build(lists:sort([{A + B, {X, Y}} | R])).
codes({L, R}, P) -> codes(L, <<P/bits, 0:1>>) ++ codes(R, <<P/bits, 1:1>>);
codes(C, P) -> [{C, P}].
decode(<<0:1, B/bits>>, {L, _}, T) -> decode(B, L, T);
decode(<<1:1, B/bits>>, {_, R}, T) -> decode(B, R, T);
decode(<<>>, C, _) when is_integer(C) -> [C];
decode(B, C, T) -> [C | decode(B, T, T)].
dijkstra(G, S) -> dj(gb_sets:singleton({0, S}), G, #{}).
dj(Q, G, Done) -> case gb_sets:is_empty(Q) of true -> Done; false -> {{D, V}, Q1} = gb_sets:take_smallest(Q), case Done of #{V := _} -> dj(Q1, G, Done); _ -> dj(lists:foldl(fun({W, C}, A) -> gb_sets:add({D + C, W}, A) end, Q1, maps:get(V, G)), G, Done#{V => D}) end end.
trie(Ws) -> lists:foldl(fun ins/2, #{}, Ws).
ins([], T) -> T#{stop => true};
ins([C | W], T) -> T#{C => ins(W, maps:get(C, T, #{}))}.
lru(N, Ks) -> lists:foldl(fun(K, C) -> lists:sublist([K | lists:delete(K, C)], N) end, [], Ks).
uf(N, Ps) -> P = lists:foldl(fun({A, B}, M) -> M#{root(A, M) => root(B, M)} end, maps:from_list([{I, I} || I <- lists:seq(1, N)]), Ps), length(lists:usort([root(I, P) || I <- lists:seq(1, N)])).
root(X, M) -> case M of #{X := X} -> X; #{X := Y} -> root(Y, M) end.
