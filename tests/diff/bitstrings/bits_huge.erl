%% Bit strings larger than any memory are refused.
-module(bits_huge).
-export([main/0]).
main() ->
    [t:p(N, case catch <<0:N>> of {'EXIT', {R, _}} -> R; _ -> built end) || N <- [1 bsl 64, 1 bsl 70]], [t:p(N, case catch binary:copy(<<"abc">>, N) of {'EXIT', {R, _}} -> R; _ -> built end) || N <- [1 bsl 64, 1 bsl 70]],
    t:p(byte_size(<<0:(1 bsl 20)>>)), [t:p(case catch <<X/binary, 1:(1 bsl 70)>> of {'EXIT', {R, _}} -> R; _ -> built end) || X <- [<<"abc">>, <<>>]].
