%% binary:longest_common_prefix/1 and longest_common_suffix/1 of very many binaries, wrong ones far behind.
-module(common_ends_of_many).
-export([main/0]).

main() ->
    N = 100_000,
    Fs = [longest_common_prefix, longest_common_suffix],
    B = <<"the same beginning, the same end">>,
    Shorter = binary:part(B, 0, 18),
    Lists = [{same, lists:duplicate(N, B)},
             {shorter_last, lists:duplicate(N, B) ++ [Shorter]},
             {shorter_first, [Shorter | lists:duplicate(N, B)]},
             {differs, lists:duplicate(N div 2, B) ++ [<<"the sane end">> | lists:duplicate(N div 2, B)]},
             {empty, lists:duplicate(N, B) ++ [<<>>]},
             {nothing, lists:duplicate(N, B) ++ [<<0>>]},
             {unaligned, [begin <<_:1, X/binary>> = <<0:1, B/binary>>, X end || _ <- lists:seq(1, N)]}],
    [t:p({Name, [binary:F(L) || F <- Fs]}) || {Name, L} <- Lists],
    Wrong = [lists:duplicate(N, B) ++ [atom], lists:duplicate(N, B) ++ [<<1:1>>], lists:duplicate(N, B) ++ tail,
             [<<>> | lists:duplicate(N, B)] ++ [1], [<<"x">>, B | [atom]]],
    [t:p(class(fun() -> binary:F(L) end)) || F <- Fs, L <- Wrong].

class(F) -> try F() catch C:R -> {C, R} end.
