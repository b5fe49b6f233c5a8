%% Bignums at the borders of words in every operation.
-module(big_digit_edges).
-export([main/0]).
main() -> Es = [1 bsl 59, (1 bsl 59) - 1, 1 bsl 60, 1 bsl 63, (1 bsl 63) - 1, 1 bsl 64, (1 bsl 64) - 1, (1 bsl 64) + 1, 1 bsl 127, 1 bsl 128, (1 bsl 128) - 1, 1 bsl 192, 3], Vs = Es ++ [-E || E <- Es], [g:digest(Op, [t:c(fun() -> erlang:Op(A, B) end) || A <- Vs, B <- Vs]) || Op <- ['+', '-', '*', 'div', 'rem', 'band', 'bor', 'bxor', '/', '<', '==']], [g:digest(Op, [erlang:Op(A, N) || A <- Vs, N <- [0, 1, 3, 59, 60, 63, 64, 65, 127, 128]]) || Op <- ['bsl', 'bsr']], t:p([{abs(V), -V, bnot V, float(V), trunc(float(V))} || V <- lists:sublist(Vs, 6)]), t:p([V rem 7 || V <- Vs]), t:p([V div -7 || V <- lists:sublist(Vs, 4)]), t:p([is_integer(V) andalso erts_debug:flat_size(V) || V <- Vs]).
