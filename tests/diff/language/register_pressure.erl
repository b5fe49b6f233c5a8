%% Many values alive at once: across calls, catches, receives, collections; long
%% float expressions; calls with many arguments in changing order.
-module(register_pressure).
-export([main/0, six/6]).
main() ->
    t:p(forty(t:id(1))), t:p(shuffle(1, 2, 3, 4, 5, 6, 7, 8, 100)), t:p(fl(t:id(1.5), t:id(2.5), t:id(0.5))), t:p(across(t:id(3))), t:p(tries(t:id(5))), t:p(recv(t:id(7))), t:p(swap(20, 1, 2, 3, 4)), t:p(args(t:id(2))), t:p(build(t:id(9))), t:p(nested_calls(t:id(4))), t:p(mixed(t:id(10), t:id(2.0))), t:p([poly(X / 4) || X <- lists:seq(-8, 8)]), t:p(horner(lists:seq(1, 20), 1.01)), t:p(newton(2.0, 1.0, 20)), t:p(rk4(0.0, 1.0, 0.1, 50)), t:p(bits(t:id(<<1, 2, 3, 4, 5, 6, 7, 8, 9, 10>>))), t:p(kalman([1.0, 1.2, 0.9, 1.1, 1.05], 0.0, 1.0)), t:p(phases(t:id(100))).
forty(X) ->
    A = t:id(X + 1), B = t:id(A + 1), C = t:id(B * 2), D = t:id(C - A), E = t:id(D + B), F = t:id(E * 3), G = t:id(F - C), H = t:id(G + D), I = t:id(H band 255), J = t:id(I + E), K = t:id(J * F), L = t:id(K rem 1000), M = t:id(L + G), N = t:id(M - H), O = t:id(N bxor I), P = t:id(O + J), Q = t:id(P * 2), R = t:id(Q - K), S = t:id(R div 3), T = t:id(S + L), U = t:id(T + M), V = t:id(U * N), W = t:id(V - O), Y = t:id(W + P), Z = t:id(Y * Q),
    garbage_collect(), {[A, B, C, D, E], {F, G, H, I, J}, #{k => K, l => L}, [M | N], O, P, {Q, {R, {S, T}}}, U + V + W, Y, Z, A + B + C + D + E + F + G + H + I + J + K + L + M + N + O + P + Q + R + S + T + U + V + W + Y + Z}.
shuffle(A, B, C, D, E, F, G, H, 0) -> [A, B, C, D, E, F, G, H];
shuffle(A, B, C, D, E, F, G, H, N) when N rem 3 =:= 0 -> shuffle(H, A, B, C, D, E, F, G, N - 1);
shuffle(A, B, C, D, E, F, G, H, N) when N rem 2 =:= 0 -> shuffle(B, A, D, C, F, E, H, G, N - 1);
shuffle(A, B, C, D, E, F, G, H, N) -> shuffle(D, E, F, G, H, A, B, C, N - 1).
fl(A, B, C) -> X = (A + B) * (B - C) / (A * C) + (A - B) * (C + A) - (B * B - A * C) / (C + 1), Y = ((A + 1) * (B + 2) * (C + 3) - X) / ((A - B) * (B - C) * (C - A)), Z = X * Y + (X - Y) * (X + Y) / (A + B + C), {X, Y, Z, [X > Y, Z =:= Z, trunc(Z), X + 1, 2 * Y]}.
across(N) -> A = {N, a}, B = [N, b], C = #{n => N}, D = <<N, 1>>, E = N / 2, F = N bsl 64, lists:map(fun(X) -> garbage_collect(), {X, A, B, C, D, E, F} end, [1, 2]).
tries(N) -> A = N + 1, B = [A], C = {B}, try D = t:id(C), E = t:id(A) div t:id(0), {D, E} catch error:R:S -> {A, B, C, R, is_list(S), N} after put(x, {A, B, C}), garbage_collect() end.
recv(N) -> A = [N], B = {N, A}, self() ! {m, N * 2}, C = t:id(B), receive {m, X} when X > N -> {A, B, C, X} after 0 -> none end.
swap(0, A, B, C, D) -> {A, B, C, D};
swap(N, A, B, C, D) -> {X, Y} = if N rem 2 =:= 0 -> {B, A}; true -> {A + D, B} end, swap(N - 1, X, Y, D, C + N).
args(X) -> six(six(X, 1, 2, 3, 4, 5), six(1, X, 2, 3, 4, 5), six(1, 2, X, 3, 4, 5), six(1, 2, 3, X, 4, 5), six(1, 2, 3, 4, X, 5), six(1, 2, 3, 4, 5, X)).
six(A, B, C, D, E, F) -> {A, {B, C}, [D, E | F]}.
build(N) -> X = [N, N + 1], {X, {X, [X | X], {N}}, #{X => {X, N}, {N} => X}, <<N, N:16, (N * 2):3>>, fun(Y) -> [X, Y, N] end(q), [{I, X} || I <- X], N + 0.5, N bsl 70}.
nested_calls(N) -> t:id(t:id(t:id(N) + t:id(N * 2)) + t:id(t:id(N - 1) * t:id(t:id(3) + N))) - t:id(hd([t:id(N) | t:id([1])])).
mixed(I, F) -> [I + F, F * I - I, I * I + F, (I div 3) * F, F / I, trunc(F) + I, float(I) - F, I - F * 2 + I, round(F * 1.5) bsl 3, (I + 1) / 2 + F, -F, -I, abs(F - I)].
poly(X) -> 3.0 * X * X * X - 2.0 * X * X + X - 5.0 + 1 / (X * X + 1).
horner(Cs, X) -> lists:foldl(fun(C, A) -> A * X + C end, 0.0, Cs).
newton(_, X, 0) -> X;
newton(A, X, N) -> newton(A, (X + A / X) / 2, N - 1).
rk4(_, Y, _, 0) -> Y;
rk4(T, Y, H, N) -> F = fun(S, V) -> V - S * S + 1 end, K1 = H * F(T, Y), K2 = H * F(T + H / 2, Y + K1 / 2), K3 = H * F(T + H / 2, Y + K2 / 2), K4 = H * F(T + H, Y + K3), rk4(T + H, Y + (K1 + 2 * K2 + 2 * K3 + K4) / 6, H, N - 1).
bits(<<A:3, B:5, C:11, D:2, E/bits>>) -> <<F:7, G/bits>> = E, H = t:id({A, B}), {H, C, D, F, G, <<G/bits, A:3, F:7>>, <<D:2, C:11>>}.
kalman([], X, P) -> {X, P};
kalman([Z | Zs], X, P) -> P1 = P + 0.01, K = P1 / (P1 + 0.1), kalman(Zs, X + K * (Z - X), (1 - K) * P1).
phases(0) -> [];
phases(N) -> A = N * 1.5, B = {A, N}, C = [B | A], case t:id(C) of [{X, Y} | Z] when X > Y, Z > 10.0 -> [{X + Z, Y} | phases(N - 7)]; [{X, _} | _] -> phases(min(N - 1, trunc(X) div 3)) end.
