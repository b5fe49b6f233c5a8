%% Sizes of bit strings in guards, and matching on what was bound.
-module(bits_guards).
-export([main/0]).
main() ->
    [t:p(X, {g(X), h(X)}) || X <- [<<>>, <<1>>, <<1:1>>, <<1, 2>>, <<"abcdefgh">>, a, {<<1>>}]], Len = 2, <<A:Len/binary, A:Len/binary, R/binary>> = <<"abab!">>, t:p({A, R}), t:p(t:c(fun() -> <<N, X:N/binary, X:N/binary>> = t:id(<<1, "ab">>), X end)), t:p(case <<3, "abcdef">> of <<S, B:S/binary, C/binary>> when byte_size(C) =:= S -> {B, C} end), K = 16#AB, t:p([case X of <<K, _/binary>> -> k; <<K:4, _:4>> -> k4; <<"é"/utf8, _/bits>> -> e; _ -> no end || X <- [<<16#AB, 1>>, <<16#B0>>, <<"é!"/utf8>>, <<>>]]).
g(X) when byte_size(X) =:= 1 -> one; g(X) when bit_size(X) rem 8 =:= 0, X =/= <<>> -> whole; g(X) when is_bitstring(X) -> bits; g(_) -> other.
h(<<X:8, _/bits>>) when X > 50; X =:= 1 -> X; h(<<_:1/bits, _/bits>>) -> some; h(_) -> none.
