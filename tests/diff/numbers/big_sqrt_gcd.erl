%% Number theory on bignums: gcd, powers modulo, square roots, factorials, Fibonacci.
-module(big_sqrt_gcd).
-export([main/0]).
main() -> t:p(gcd(fac(60), fib(300))), t:p(pow(3, 1000, (1 bsl 127) - 1)), t:p(isqrt(1 bsl 201)), t:p(fac(100)), t:p(fib(500)), t:p(pow(7, 12345, fac(30) + 1)), t:p([prime(N) || N <- [(1 bsl 61) - 1, (1 bsl 61) + 1, (1 bsl 89) - 1]]), t:p(erlang:crc32(integer_to_binary(fac(2000)))), t:p(fac(500) div fac(498)), t:p(fac(40) rem (fac(20) + 1)).
fac(0) -> 1; fac(N) -> N * fac(N - 1).
fib(N) -> fib(N, 0, 1).
fib(0, A, _) -> A; fib(N, A, B) -> fib(N - 1, B, A + B).
gcd(A, 0) -> A; gcd(A, B) -> gcd(B, A rem B).
pow(_, 0, _) -> 1; pow(B, E, M) when E band 1 =:= 1 -> B * pow(B, E - 1, M) rem M; pow(B, E, M) -> pow(B * B rem M, E bsr 1, M).
isqrt(N) -> isqrt(N, N).
isqrt(N, X) -> case (X + N div X) div 2 of Y when Y >= X -> X; Y -> isqrt(N, Y) end.
prime(N) -> lists:all(fun(A) -> pow(A, N - 1, N) =:= 1 end, [2, 3, 5, 7, 11]).
