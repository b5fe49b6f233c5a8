%% Integers of every size and sign, built and matched back.
-module(bits_int_sizes).
-export([main/0]).
main() -> [t:p(N, [begin B = <<V:N>>, <<U:N>> = B, <<S:N/signed>> = B, L = <<V:N/little>>, <<UL:N/little>> = L, <<SL:N/signed-little>> = L, {U, S, UL, SL, L} end || V <- [0, 1, -1, 5, 255, -128, 1 bsl 31, -(1 bsl 63), (1 bsl 70) + 9]]) || N <- [0, 1, 3, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 59, 60, 63, 64, 65, 72, 100, 128, 130]].
