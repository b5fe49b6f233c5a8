%% Deep and long: recursion that is not a loop, nested data, nested funs and tries,
%% mutual recursion, long loops, wide arities.
-module(deep_recursion).
-export([main/0]).
main() ->
    t:p(sum(300000)), t:p(length(build(300000))), t:p(even(1000000)), t:p(depth(nest(100000, x), 0)), t:p(erlang:phash2(nest(10000, y))), t:p(nest(50000, a) =:= nest(50000, a)), t:p(nest(50000, a) < nest(50000, b)), t:p(byte_size(term_to_binary(nest(20000, z)))), t:p(binary_to_term(term_to_binary(nest(20000, z))) =:= nest(20000, z)),
    t:p(tries(5000)), t:p(catches(5000)), t:p(funs(10000, fun(X) -> X end)), t:p(a(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 100000)), t:p(loop(3000000, 0)), t:p(floats(200000, 0.0)), t:p(t:c(fun() -> bad(20000) end)), S = self(), N = nest(100000, m), spawn(fun() -> S ! {back, N} end), t:p(receive {back, M} -> M =:= N end),
    T = ets:new(x, []), ets:insert(T, {k, N}), t:p(element(2, hd(ets:lookup(T, k))) =:= N), t:p(length(lists:flatten(deep_list(20000)))), t:p(iolist_size(deep_list(50000))), t:p(map_depth(map_nest(5000), 0)), t:p(length(io_lib:format("~w", [nest(1000, q)])) > 0), t:p(lists:foldr(fun(X, A) -> X + A end, 0, lists:seq(1, 200000))), t:p(tree(16)), garbage_collect(), t:p(erts_debug:flat_size(nest(1000, a))), t:p(t:c(fun() -> deep_throw(50000) end)), t:p(mutual(ping, 100001)), t:p(length(merge_sort([I * 7919 rem 100003 || I <- lists:seq(1, 50000)]))).
sum(0) -> 0; sum(N) -> N + sum(N - 1).
build(0) -> []; build(N) -> [N | build(N - 1)].
even(0) -> true; even(N) -> odd(N - 1).
odd(0) -> false; odd(N) -> even(N - 1).
nest(0, X) -> X; nest(N, X) -> nest(N - 1, {N, [X]}).
depth({_, [X]}, N) -> depth(X, N + 1); depth(_, N) -> N.
tries(0) -> done; tries(N) -> try tries(N - 1) of X -> X catch error:_ -> err after put(n, N) end.
catches(0) -> throw(bottom); catches(N) -> case catch catches(N - 1) of {N1, X} -> {N1 + 1, X}; X -> {1, X} end.
funs(0, F) -> F(0); funs(N, F) -> funs(N - 1, fun(X) -> F(X + 1) end).
a(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, 0) -> {A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P};
a(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, X) -> a(B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, A, X - 1).
loop(0, A) -> A; loop(N, A) -> loop(N - 1, (A + N) band 16#FFFFFF).
floats(0, A) -> A; floats(N, A) -> floats(N - 1, A + 1 / N).
bad(0) -> t:id(a) + 1; bad(N) -> [bad(N - 1)].
deep_list(0) -> "x"; deep_list(N) -> [deep_list(N - 1), $a].
map_nest(0) -> #{}; map_nest(N) -> #{n => N, in => map_nest(N - 1)}.
map_depth(#{in := M}, N) -> map_depth(M, N + 1); map_depth(_, N) -> N.
tree(0) -> 1; tree(N) -> tree(N - 1) + tree(N - 1).
deep_throw(0) -> throw(up); deep_throw(N) -> 1 + deep_throw(N - 1).
mutual(_, 0) -> over; mutual(ping, N) -> mutual(pong, N - 1); mutual(pong, N) -> mutual(ping, N - 1).
merge_sort([]) -> []; merge_sort([X]) -> [X]; merge_sort(L) -> {A, B} = lists:split(length(L) div 2, L), mg(merge_sort(A), merge_sort(B)).
mg([], B) -> B; mg(A, []) -> A; mg([X | A], [Y | _] = B) when X =< Y -> [X | mg(A, B)]; mg(A, [Y | B]) -> [Y | mg(A, B)].
