%% Very large numbers: factorials, powers, division identities, shifts.
-module(bignum_huge).
-export([main/0]).
main() ->
    F = fact(500), t:p(F), t:p(F div fact(498)), t:p(F rem (fact(100) + 1)), t:p(erlang:phash2(fact(2000))),
    A = pow(3, 1000), B = pow(7, 400), t:p(A div B), t:p((A div B) * B + A rem B =:= A), t:p(-A div B =:= -(A div B)), t:p((-A) rem B =:= -(A rem B)),
    t:p((A + B) * (A - B) =:= A * A - B * B), t:p((A bsl 1000) bsr 1000 =:= A), t:p(erlang:md5(integer_to_binary(pow(2, 20000) - 1))), t:p(length(integer_to_list(pow(10, 5000)))),
    t:p(A band (1 bsl 200 - 1)), t:p((-A) band (1 bsl 100 - 1)), t:p((-A) bor 1 =:= -A), t:p((A bxor B) bxor B =:= A), t:p(((-A) bxor B) bxor B =:= -A), t:p(bnot A), t:p((-A) bsr 1500),
    t:p(list_to_integer(integer_to_list(F)) =:= F), t:p(egcd(fact(30), pow(2, 100) + 1)), t:p(powmod(3, pow(2, 200) + 7, pow(2, 127) - 1)), t:p(isqrt(pow(10, 60))),
    t:pc(fun() -> t:id(1) bsl t:id(1 bsl 64) end), t:pc(fun() -> t:id(1) bsr t:id(1 bsl 64) end), t:pc(fun() -> t:id(-1) bsr t:id(1 bsl 64) end), t:pc(fun() -> t:id(0) bsl t:id(1 bsl 64) end).
fact(0) -> 1; fact(N) -> N * fact(N - 1).
pow(_, 0) -> 1; pow(B, N) when N rem 2 =:= 0 -> X = pow(B, N div 2), X * X; pow(B, N) -> B * pow(B, N - 1).
egcd(A, 0) -> {A, 1, 0}; egcd(A, B) -> {G, X, Y} = egcd(B, A rem B), {G, Y, X - (A div B) * Y}.
powmod(_, 0, _) -> 1; powmod(B, E, M) when E band 1 =:= 1 -> B * powmod(B, E - 1, M) rem M; powmod(B, E, M) -> X = powmod(B, E bsr 1, M), X * X rem M.
isqrt(N) -> isqrt(N, N). isqrt(N, X) -> case (X + N div X) div 2 of Y when Y >= X -> X; Y -> isqrt(N, Y) end.
