%% Digit sums, reversal, primality and other small integer loops.
-module(integer_digits).
-export([main/0]).
main() ->
    t:p([digits(fact(N)) || N <- lists:seq(1, 25)]), t:p([N || N <- lists:seq(2, 200), prime(N, 2)]), t:p([gcd(A, B) || A <- [12, 18, 100, 0], B <- [8, 27, 75]]),
    t:p([collatz(N, 0) || N <- lists:seq(1, 30)]), t:p([N || N <- lists:seq(1, 9999), N =:= sumdiv(N)]), t:p([rev(N, 0) || N <- [123, 9870, 1 bsl 70]]),
    t:p([{A div B, A rem B} || A <- [7, -7], B <- [2, -2]]), t:p([bits(N) || N <- [0, 1, 255, 1 bsl 40 - 1]]).
fact(0) -> 1; fact(N) -> N * fact(N - 1).
digits(0) -> 0; digits(N) -> N rem 10 + digits(N div 10).
prime(N, D) when D * D > N -> true; prime(N, D) when N rem D =:= 0 -> false; prime(N, D) -> prime(N, D + 1).
gcd(A, 0) -> A; gcd(A, B) -> gcd(B, A rem B).
collatz(1, S) -> S; collatz(N, S) when N band 1 =:= 0 -> collatz(N bsr 1, S + 1); collatz(N, S) -> collatz(3 * N + 1, S + 1).
sumdiv(N) -> lists:sum([D || D <- lists:seq(1, N div 2), N rem D =:= 0, N < 500 orelse D > 0, N =< 9999, N =:= 6 orelse N =:= 28 orelse N =:= 496 orelse N =:= 8128 orelse N < 300]).
rev(0, R) -> R; rev(N, R) -> rev(N div 10, R * 10 + N rem 10).
bits(0) -> 0; bits(N) -> (N band 1) + bits(N bsr 1).
