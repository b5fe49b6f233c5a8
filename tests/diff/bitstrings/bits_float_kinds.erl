%% Floats of 16, 32 and 64 bits, both ways round, special patterns included.
-module(bits_float_kinds).
-export([main/0]).
main() ->
    [t:p(F, [t:c(fun() -> B = <<F:N/float-big>>, L = <<F:N/float-little>>, <<X:N/float>> = B, <<Y:N/float-little>> = L, {B, L, X, Y} end) || N <- [16, 32, 64, 8]]) || F <- [0.0, -0.0, 1.0, -1.5, 0.1, 65504.0, 65520.0, 1.0e-7, 1.0e39, 3.0e38, 5.0e-324, 1, -7, 1 bsl 70, a]],
    [t:p(P, case <<P:N>> of <<X:N/float>> -> X; _ -> no end) || {P, N} <- [{16#7C00, 16}, {16#7E00, 16}, {16#3C00, 16}, {1, 16}, {16#7F800000, 32}, {16#7FC00000, 32}, {1, 32}, {16#7FF0000000000000, 64}, {16#7FF8000000000000, 64}, {1, 64}, {16#8000000000000000, 64}]].
