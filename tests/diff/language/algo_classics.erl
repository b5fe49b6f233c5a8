%% Small programs everybody knows: queens, sieve, permutations, knapsack, Hanoi,
%% edit distance, matrices, Collatz, primes by Miller-Rabin, Mandelbrot, life.
-module(algo_classics).
-export([main/0]).
main() ->
    t:p([length(queens(N)) || N <- lists:seq(1, 8)]), t:p(hd(queens(8))), t:p(lists:sum(sieve(20000))), t:p(length(perms([1, 2, 3, 4, 5, 6, 7]))), t:p(perms("abc")), t:p(knapsack([{12, 4}, {2, 2}, {1, 1}, {1, 2}, {4, 10}], 15)),
    t:p(length(hanoi(10, a, b, c))), t:p(edit("kitten sitting on the mat", "sitting kitten at the mall")), t:p(matpow([[1, 1], [1, 0]], 300)), t:p(lists:max([{collatz(N, 1), N} || N <- lists:seq(1, 20000)])), t:p([N || N <- lists:seq(1000000007, 1000000300, 2), prime(N)]), t:p(prime((1 bsl 127) - 1)),
    [io:format("~s~n", [[mandel(X / 30, Y / 10) || X <- lists:seq(-60, 20)]]) || Y <- lists:seq(-10, 10, 2)], t:p(lists:sort(life(glider(), 40))), t:p(gcd(1 bsl 200, 6 * (1 bsl 190))), t:p(egcd(240, 46)), t:p([roman(N) || N <- [1, 4, 9, 14, 40, 90, 400, 1994, 2023]]), t:p(ack(2, 9)), t:p(tak(18, 12, 6)),
    t:p(lists:foldl(fun(_, {A, B}) -> {B, A + B} end, {0, 1}, lists:seq(1, 1000))), t:p(fact(100)), t:p(isqrt(fact(60))), t:p(pidigits(60)), t:p(lists:sublist(hamming(400), 380, 10)), t:p(catalan(30)), t:p(partitions(200)), t:p(lcs("AGGTABQWERTY", "GXTXAYBQWTY")), t:p(nrev(lists:seq(1, 400))), t:p(sudoku()).

queens(N) -> queens(N, N).
queens(0, _) -> [[]];
queens(K, N) -> [[Q | B] || B <- queens(K - 1, N), Q <- lists:seq(1, N), safe(Q, B, 1)].
safe(_, [], _) -> true;
safe(Q, [P | B], D) -> Q =/= P andalso abs(Q - P) =/= D andalso safe(Q, B, D + 1).
sieve(N) -> sv(lists:seq(2, N), N).
sv([P | Xs], N) when P * P =< N -> [P | sv([X || X <- Xs, X rem P =/= 0], N)];
sv(Xs, _) -> Xs.
perms([]) -> [[]];
perms(L) -> [[H | T] || H <- L, T <- perms(L -- [H])].
knapsack(Items, W) -> lists:foldl(fun({C, V}, T) -> maps:map(fun(K, B) when K >= C -> max(B, V + maps:get(K - C, T)); (_, B) -> B end, T) end, maps:from_list([{K, 0} || K <- lists:seq(0, W)]), Items).
hanoi(0, _, _, _) -> [];
hanoi(N, A, B, C) -> hanoi(N - 1, A, C, B) ++ [{A, B} | hanoi(N - 1, C, B, A)].
edit(A, B) -> lists:last(lists:foldl(fun(X, [D | _] = Row) -> row(X, B, Row, D + 1) end, lists:seq(0, length(B)), A)).
row(X, B, Row, First) -> [First | row1(X, B, Row, First)].
row1(_, [], _, _) -> [];
row1(X, [Y | B], [D, U | Row], L) -> V = lists:min([L + 1, U + 1, D + if X =:= Y -> 0; true -> 1 end]), [V | row1(X, B, [U | Row], V)].
matpow(M, 1) -> M;
matpow(M, N) when N rem 2 =:= 0 -> H = matpow(M, N div 2), mul(H, H);
matpow(M, N) -> mul(M, matpow(M, N - 1)).
mul([[A, B], [C, D]], [[E, F], [G, H]]) -> [[A * E + B * G, A * F + B * H], [C * E + D * G, C * F + D * H]].
collatz(1, N) -> N;
collatz(K, N) when K band 1 =:= 0 -> collatz(K bsr 1, N + 1);
collatz(K, N) -> collatz(3 * K + 1, N + 1).
prime(N) -> {S, D} = split(N - 1, 0), lists:all(fun(A) -> witness(A, D, S, N) end, [2, 3, 5, 7, 11, 13, 17]).
split(D, S) when D band 1 =:= 0 -> split(D bsr 1, S + 1);
split(D, S) -> {S, D}.
witness(A, D, S, N) -> X = modpow(A, D, N), X =:= 1 orelse X =:= N - 1 orelse sq(X, S - 1, N).
sq(_, 0, _) -> false;
sq(X, S, N) -> Y = X * X rem N, Y =:= N - 1 orelse sq(Y, S - 1, N).
modpow(_, 0, _) -> 1;
modpow(B, E, M) when E band 1 =:= 1 -> B * modpow(B, E - 1, M) rem M;
modpow(B, E, M) -> H = modpow(B, E bsr 1, M), H * H rem M.
mandel(X, Y) -> element(1 + iter(X, Y, 0.0, 0.0, 0) div 4, {$., $:, $-, $=, $+, $*, $#, $%, $@, $ }).
iter(_, _, _, _, 36) -> 36;
iter(X, Y, A, B, N) -> C = A * A - B * B + X, D = 2 * A * B + Y, if C * C + D * D > 4.0 -> N; true -> iter(X, Y, C, D, N + 1) end.
glider() -> [{1, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}].
life(C, 0) -> C;
life(Cells, N) ->
    Counts = lists:foldl(fun(P, M) -> maps:update_with(P, fun(V) -> V + 1 end, 1, M) end, #{}, [{X + DX, Y + DY} || {X, Y} <- Cells, DX <- [-1, 0, 1], DY <- [-1, 0, 1], {DX, DY} =/= {0, 0}]),
    life([P || {P, K} <- maps:to_list(Counts), K =:= 3 orelse (K =:= 2 andalso lists:member(P, Cells))], N - 1).
gcd(A, 0) -> A;
gcd(A, B) -> gcd(B, A rem B).
egcd(A, 0) -> {A, 1, 0};
egcd(A, B) -> {G, X, Y} = egcd(B, A rem B), {G, Y, X - A div B * Y}.
roman(0) -> "";
roman(N) -> {V, S} = hd([{V, S} || {V, S} <- [{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}], V =< N]), S ++ roman(N - V).
ack(0, N) -> N + 1;
ack(M, 0) -> ack(M - 1, 1);
ack(M, N) -> ack(M - 1, ack(M, N - 1)).
tak(X, Y, Z) when Y < X -> tak(tak(X - 1, Y, Z), tak(Y - 1, Z, X), tak(Z - 1, X, Y));
tak(_, _, Z) -> Z.
fact(0) -> 1;
fact(N) -> N * fact(N - 1).
isqrt(N) -> isqrt(N, N).
isqrt(N, X) -> Y = (X + N div X) div 2, if Y >= X -> X; true -> isqrt(N, Y) end.
pidigits(N) -> pi(1, 0, 1, 1, 3, 3, N, []).
pi(_, _, _, _, _, _, 0, Acc) -> lists:reverse(Acc);
pi(Q, R, T, K, N, L, C, Acc) when 4 * Q + R - T < N * T -> pi(Q * 10, 10 * (R - N * T), T, K, 10 * (3 * Q + R) div T - 10 * N, L, C - 1, [$0 + N | Acc]);
pi(Q, R, T, K, _, L, C, Acc) -> pi(Q * K, (2 * Q + R) * L, T * L, K + 1, (Q * (7 * K + 2) + R * L) div (T * L), L + 2, C, Acc).
hamming(N) -> hamming(N, gb_sets:singleton(1), []).
hamming(0, _, Acc) -> lists:reverse(Acc);
hamming(N, S, Acc) -> {X, S1} = gb_sets:take_smallest(S), hamming(N - 1, lists:foldl(fun(F, A) -> gb_sets:add(X * F, A) end, S1, [2, 3, 5]), [X | Acc]).
catalan(N) -> fact(2 * N) div (fact(N + 1) * fact(N)).
partitions(N) -> maps:get(N, lists:foldl(fun(K, T) -> lists:foldl(fun(J, M) -> M#{J => maps:get(J, M) + maps:get(J - K, M)} end, T, lists:seq(K, N)) end, maps:from_list([{0, 1} | [{I, 0} || I <- lists:seq(1, N)]]), lists:seq(1, N))).
lcs(A, B) -> {_, L} = lcs(A, B, #{}), L.
lcs([], _, M) -> {M, ""};
lcs(_, [], M) -> {M, ""};
lcs([H | A] = X, [H | B] = Y, M) -> case M of #{{X, Y} := R} -> {M, R}; _ -> {M1, L} = lcs(A, B, M), {M1#{{X, Y} => [H | L]}, [H | L]} end;
lcs([_ | A] = X, [_ | B] = Y, M) -> case M of #{{X, Y} := R} -> {M, R}; _ -> {M1, L1} = lcs(A, Y, M), {M2, L2} = lcs(X, B, M1), L = if length(L1) >= length(L2) -> L1; true -> L2 end, {M2#{{X, Y} => L}, L} end.
nrev(L) -> lists:sum(lists:zipwith(fun(A, B) -> A * B end, L, rev(L))).
rev([]) -> [];
rev([H | T]) -> rev(T) ++ [H].
sudoku() -> Start = maps:from_list([{{R, C}, V} || {R, Row} <- lists:zip(lists:seq(0, 8), ["53..7....", "6..195...", ".98....6.", "8...6...3", "4..8.3..1", "7...2...6", ".6....28.", "...419..5", "....8..79"]), {C, Ch} <- lists:zip(lists:seq(0, 8), Row), Ch =/= $., V <- [Ch - $0]]), solve(Start, [{R, C} || R <- lists:seq(0, 8), C <- lists:seq(0, 8), not maps:is_key({R, C}, Start)]).
solve(B, []) -> [[maps:get({R, C}, B) || C <- lists:seq(0, 8)] || R <- lists:seq(0, 8)];
solve(B, [{R, C} | Rest]) -> first([V || V <- lists:seq(1, 9), fits(B, R, C, V)], fun(V) -> solve(B#{{R, C} => V}, Rest) end).
first([], _) -> none;
first([V | Vs], F) -> case F(V) of none -> first(Vs, F); R -> R end.
fits(B, R, C, V) -> lists:all(fun(I) -> maps:get({R, I}, B, 0) =/= V andalso maps:get({I, C}, B, 0) =/= V andalso maps:get({R div 3 * 3 + I div 3, C div 3 * 3 + I rem 3}, B, 0) =/= V end, lists:seq(0, 8)).
