%% Division and remainder with every sign, shifts to the limits, bit operations on
%% negative numbers, text in every base, what system_limit stops.
-module(bignum_signs).
-export([main/0]).
main() ->
    B = t:id(1 bsl 64), Ns = [0, 1, 2, 7, B - 1, B, B + 1, 1 bsl 59 - 1, 1 bsl 59, 1 bsl 63, 3 bsl 127 + 5, 1 bsl 200 - 1],
    Ss = lists:usort(Ns ++ [-N || N <- Ns]),
    t:p(erlang:phash2([{X, Y, t:c(fun() -> {X div Y, X rem Y} end)} || X <- Ss, Y <- Ss])), [t:p({X, Y}, {X div Y, X rem Y}) || X <- [7, -7, B + 3, -B - 3], Y <- [2, -2, B, -B, B + 3, 5 bsl 70]],
    t:p(erlang:phash2([{X band Y, X bor Y, X bxor Y, bnot X} || X <- Ss, Y <- Ss])), t:p([{X band 16#FF, X bor 1, X bxor -1, bnot X} || X <- [-1, -B, B - 1, -(1 bsl 59), 1 bsl 59]]),
    t:p([X bsr S || X <- [B, -B, -1, 1, 3 bsl 100, -(3 bsl 100)], S <- [0, 1, 63, 64, 65, 102, 1000, 1 bsl 70]]), t:p([1 bsl S || S <- [0, 58, 59, 60, 62, 63, 64, -1]]), t:p([-1 bsl S || S <- [58, 59, 60, 63, 64]]), t:p([X bsl -2 || X <- [7, -7, B, -B]]), t:p(0 bsl t:id(1 bsl 80)),
    [t:p(N, t:c(F)) || {N, F} <- [{huge, fun() -> 1 bsl t:id(1 bsl 40) end}, {huge2, fun() -> 1 bsl t:id(1 bsl 70) end}, {neg_huge, fun() -> 1 bsr t:id(-(1 bsl 40)) end}, {neg, fun() -> -1 bsr t:id(1 bsl 70) end}, {div0, fun() -> B div t:id(0) end}, {rem0, fun() -> B rem t:id(0) end}, {fl, fun() -> t:id(1.0) div 1 end}, {at, fun() -> B + t:id(a) end}, {at2, fun() -> t:id(a) bsl B end}, {flb, fun() -> B band t:id(1.0) end}, {neg_at, fun() -> -t:id(x) end}, {bnot_f, fun() -> bnot t:id(1.5) end}]],
    t:p([integer_to_list(X, Base) || X <- [B, -B - 1, 0, 35], Base <- [2, 7, 10, 16, 36]]), t:p([list_to_integer(integer_to_list(3 bsl 150, Base), Base) =:= 3 bsl 150 || Base <- lists:seq(2, 36)]), t:p(length(integer_to_list(1 bsl 20000))), t:p(erlang:phash2(list_to_integer(lists:duplicate(3000, $7)))),
    t:p([B =:= B + 0, B == float(B), B =:= float(B), B + 1 == float(B), B + 1 > float(B), B > 1.0e308, B < 1.0e308, -B < -1.0e19]), t:p(float(B + 1)), t:p([trunc(1.0e20), round(-1.5e25), trunc(float(B)), ceil(1.0e22), floor(-1.0e22)]), t:p(t:c(fun() -> float(1 bsl t:id(1024)) end)), t:p(t:c(fun() -> (1 bsl t:id(1100)) / 3 end)), t:p((1 bsl 600) / (1 bsl 590)), t:p(t:c(fun() -> (1 bsl t:id(1030)) / (1 bsl 1029) end)),
    t:p(lists:foldl(fun(N, A) -> A * N end, 1, lists:seq(1, 60))), t:p([N * N || N <- [1 bsl 30 - 1, 1 bsl 31, -(1 bsl 31), 1 bsl 32, 1 bsl 58]]), t:p([(1 bsl 59 - 1) + 1, -(1 bsl 59) - 1, (1 bsl 59) - 1, -(1 bsl 59), -(-(1 bsl 59)), abs(-(1 bsl 59)), abs(-B)]), t:p([(1 bsl 59) div -1, (-(1 bsl 59)) div t:id(-1), (-(1 bsl 59)) rem t:id(-1), (-(1 bsl 63)) div t:id(-1)]),
    t:p([is_integer(B), is_number(B), max(B, 1.0), min(-B, 0), B band -B, (B * B) bsr 100]), t:p(pow(3, 200) rem pow(2, 61)), t:p(modexp(7, pow(10, 30), pow(10, 9) + 7)), t:p(gcd(pow(2, 100) * 45, pow(2, 90) * 75)), t:p(digits(pow(7, 120), 0)).
pow(_, 0) -> 1;
pow(B, N) when N rem 2 =:= 0 -> H = pow(B, N div 2), H * H;
pow(B, N) -> B * pow(B, N - 1).
modexp(_, 0, _) -> 1;
modexp(B, E, M) when E band 1 =:= 0 -> H = modexp(B, E bsr 1, M), H * H rem M;
modexp(B, E, M) -> B * modexp(B, E - 1, M) rem M.
gcd(A, 0) -> A;
gcd(A, B) -> gcd(B, A rem B).
digits(0, S) -> S;
digits(N, S) -> digits(N div 10, S + N rem 10).
