%% Patterns that do not match, and where size is no size.
-module(bits_match_fail).
-export([main/0]).
main() ->
    Bs = [<<>>, <<1>>, <<1, 2, 3>>, <<1:7>>, <<"abcdef">>], Ns = [0, 1, 8, -1, a, 1.0, 1 bsl 60, 1 bsl 70],
    [t:p({B, N}, {case B of <<X:N, _/bitstring>> -> X; _ -> no end, case B of <<X2:N/binary, _/binary>> -> X2; _ -> no end, case B of <<X3:N/bitstring, _/bitstring>> -> X3; _ -> no end, case B of <<_:N/float, _/bitstring>> -> f; _ -> no end, case B of <<_:N/unit:7, R/bitstring>> -> R; _ -> no end}) || B <- Bs, N <- Ns].
