%% Sorting and folding of long lists; deep recursion.
-module(lists_big).
-export([main/0]).
main() ->
    R = rnd(100000, 12345), S = lists:sort(R), t:p(erlang:phash2(S)), t:p(ok(S)), t:p(lists:sort(lists:reverse(S)) =:= S), t:p(length(lists:usort(R))), t:p(lists:sort(fun(A, B) -> A > B end, R) =:= lists:reverse(S)), t:p(msort(R) =:= S), t:p(qsort(R) =:= S), K = [{X rem 100, X} || X <- R], KS = lists:keysort(1, K), t:p(erlang:phash2(KS)),
    t:p(sum(1000000)), t:p(len(lists:seq(1, 1000000))), t:p(lists:sum(lists:map(fun(X) -> X + 1 end, lists:seq(1, 500000)))), t:p(lists:foldr(fun(X, A) -> X - A end, 0, lists:seq(1, 500001))), t:p(length(build(1000000))), t:p(lists:nth(900000, build(1000000))), F = [X || X <- R, X rem 7 =:= 0], t:p(length(F)), t:p(erlang:phash2([{X, integer_to_list(X)} || X <- F])), t:p(catch_deep(200000)).
rnd(0, _) -> []; rnd(N, X) -> Y = (X * 1103515245 + 12345) band 16#7FFFFFFF, [Y bsr 8 | rnd(N - 1, Y)].
ok([A, B | T]) when A =< B -> ok([B | T]); ok([_, _ | _]) -> bad; ok(_) -> sorted.
sum(0) -> 0; sum(N) -> N + sum(N - 1).
len([]) -> 0; len([_ | T]) -> 1 + len(T).
build(N) -> build(N, []). build(0, A) -> A; build(N, A) -> build(N - 1, [N | A]).
msort([]) -> []; msort([X]) -> [X]; msort(L) -> {A, B} = lists:split(length(L) div 2, L), merge(msort(A), msort(B)).
merge([A | As], [B | _] = Bs) when A =< B -> [A | merge(As, Bs)]; merge(As, [B | Bs]) -> [B | merge(As, Bs)]; merge(A, []) -> A.
qsort([]) -> []; qsort([P | T]) -> qsort([X || X <- T, X < P]) ++ [P | qsort([X || X <- T, X >= P])].
catch_deep(N) -> try deep(N) catch throw:X -> X end.
deep(0) -> throw(bottom); deep(N) -> [N | deep(N - 1)].
