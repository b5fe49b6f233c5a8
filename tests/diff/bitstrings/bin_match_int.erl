%% Matching integers of many sizes at aligned and unaligned places.
-module(bin_match_int).
-export([main/0]).
main() ->
    B = t:id(<<16#F0, 16#12, 16#34, 16#56, 16#78, 16#9A, 16#BC, 16#DE, 16#F1, 16#23, 16#45>>),
    t:p(a(B)), t:p(b(B)), t:p(c(B)), t:p(d(B)),
    [t:p(S, {u(S, B), s(S, B), ul(S, B), sl(S, B), o(S, B), ol(S, B)}) || S <- [0, 1, 4, 7, 8, 9, 12, 16, 17, 24, 31, 32, 33, 48, 59, 60, 61, 64, 65, 72, 80, 88, 89]],
    [t:p(X, lit(X)) || X <- [<<1, 2>>, <<1, 3>>, <<255, 255>>, <<2:4, 1:12>>, <<>>, <<0:16, 1>>]],
    t:p(neg(<<-5:8, -5:16/little, -5:3, 0:5>>)).
a(<<A, B:16, C:24/little, D:8/signed, _/binary>>) -> {A, B, C, D}.
b(<<A:4, B:12/signed, C:3, D:9/little, E:4, _/bits>>) -> {A, B, C, D, E}.
c(<<A:64/signed, _/bits>>) -> A.
d(<<A:64/little, B:24/signed-little>>) -> {A, B}.
u(S, B) -> case B of <<X:S, _/bits>> -> X; _ -> no end.
s(S, B) -> case B of <<X:S/signed, _/bits>> -> X; _ -> no end.
ul(S, B) -> case B of <<X:S/little, _/bits>> -> X; _ -> no end.
sl(S, B) -> case B of <<X:S/signed-little, _/bits>> -> X; _ -> no end.
o(S, B) -> case B of <<_:3, X:S, _/bits>> -> X; _ -> no end.
ol(S, B) -> case B of <<_:5, X:S/signed-little, _/bits>> -> X; _ -> no end.
lit(<<1, 2>>) -> one_two; lit(<<1, X>>) -> {one, X}; lit(<<65535:16>>) -> all;
lit(<<2:4, X:12>>) -> {nibble, X}; lit(<<>>) -> empty; lit(_) -> other.
neg(<<A:8/signed, B:16/signed-little, C:3/signed, _:5>>) -> {A, B, C}.
