%% Sizes that are expressions, in patterns and constructions; sizes from maps,
%% from earlier fields, units of every kind.
-module(bin_sizes).
-export([main/0]).
main() ->
    B = t:id(<<"abcdefghijklmnopqrstuvwxyz">>), N = t:id(3), M = t:id(#{size => 2}), T = t:id({4, x}),
    t:p(case B of <<X:(N * 2)/binary, _/binary>> -> X end), t:p(case B of <<_:N/binary, Y:(map_get(size, M))/binary, _/binary>> -> Y end), t:p(case B of <<Z:(element(1, T) + 1)/binary-unit:8, _/bits>> -> Z end),
    t:p(case B of <<L:8, Q:(L - 95)/binary, _/binary>> -> {L, Q} end), t:p(case B of <<L1, L2, _:(L2 - L1)/binary, C, _/binary>> -> C end), t:p(case B of <<I:(length([1, 2]))/unit:8, _/binary>> -> I end),
    t:p(case B of <<S:(byte_size(B))/binary>> -> byte_size(S) end), t:p(case B of <<_:(N div 0), _/bits>> -> yes; _ -> no end), t:p(case B of <<_:(hd(M)), _/bits>> -> yes; _ -> no end),
    t:p([case B of <<V:W, _/bits>> -> V end || W <- [0, 1, 7, 8, 9, 31, 32, 33, 60, 63, 64, 65, 100]]), t:p([case B of <<V:W/little, _/bits>> -> V end || W <- [0, 1, 7, 8, 9, 31, 32, 33, 60, 63, 64, 65, 100]]),
    t:p([case B of <<V:W/signed, _/bits>> -> V end || W <- [0, 1, 2, 7, 8, 9, 31, 60, 61, 64, 65]]), t:p([case B of <<V:W/signed-little, _/bits>> -> V end || W <- [0, 1, 2, 7, 8, 9, 31, 60, 61, 64, 65]]),
    t:p([case <<255, 254, 253, 252, 251, 250, 249, 248, 247>> of <<_:O, V:W/signed-little, _/bits>> -> V end || O <- [0, 1, 5], W <- [3, 12, 59, 60, 64]]),
    t:p([<<5:W>> || W <- [0, 1, 2, 3, 8, 13, 64, 65]]), t:p([<<-5:W/little>> || W <- [1, 3, 9, 16, 61, 64, 70]]), t:p([<<(1 bsl 65 + 1):W>> || W <- [1, 60, 64, 66, 72, 100]]), t:p([<<(-(1 bsl 65)):W/little>> || W <- [60, 64, 66, 72, 100]]),
    t:p(<<1:N/unit:5, 2:(N + 1)/unit:2, 3:4/unit:3>>), t:p(<<B:N/binary, (t:id(<<1:4>>))/bits, 7:4>>), t:p(<<(t:id(<<1, 2, 3>>)):2/binary-unit:7, 1:2>>), t:p(<<(t:id(1.5)):64/float-little, (t:id(2)):32/float, (t:id(-0.5)):16/float>>),
    t:p([case <<F:S/float>> of <<G:S/float>> -> G end || F <- [0.1, 1, -3.5, 65504.0], S <- [16, 32, 64]]), t:p(<< <<(X band 3):2>> || X <- lists:seq(1, 11) >>), t:p(<<"abc", "déf"/utf8, "g"/utf16, "h"/utf32-little, "ij":16/little>>),
    t:p(<<N, (N + 1):(N * 4), (N * N):N/unit:3-little>>), t:p(bit_size(<<0:(t:id(100000))>>)), t:p(case <<0:99999, 5:3>> of <<_:99999, E:3>> -> E end),
    t:p([begin <<_:K, R/bits>> = B, {bit_size(R), erlang:phash2(R)} end || K <- [1, 7, 8, 50, 207]]), t:p(case <<3, "abc", 2, "de">> of <<A1, A2:A1/binary, A3, A4:A3/binary>> -> {A2, A4} end), t:p(case <<0>> of <<J, K1:J/binary>> -> {J, K1} end).
