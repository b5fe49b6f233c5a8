%% Matching that goes on in other functions, comes back, and is kept.
-module(bits_contexts_more).
-export([main/0]).
main() ->
    t:p(words(<<"the quick  brown fox">>, <<>>, [])), t:p(tlv(<<1, 2, "ab", 2, 0, 3, 1, "c", 9>>)), t:p(count(<<"aXbXX">>, 0)), t:p(both(<<1, 2, 3>>)), t:p(both(<<5:3>>)), t:p(catch both(x)), t:p(deep(<<1, 2, 3, 4>>, 0)), t:p(keep(<<"abc">>, [])), t:p(sum(<<1:4, 2:4, 3:4>>, 0)).
words(<<$ , R/binary>>, <<>>, A) -> words(R, <<>>, A); words(<<$ , R/binary>>, W, A) -> words(R, <<>>, [W | A]); words(<<C, R/binary>>, W, A) -> words(R, <<W/binary, C>>, A); words(<<>>, W, A) -> lists:reverse([W | A]).
tlv(<<T, L, V:L/binary, R/binary>>) -> [{T, V} | tlv(R)]; tlv(R) -> {rest, R}.
count(<<"X", R/binary>>, N) -> count(R, N + 1); count(<<_, R/binary>>, N) -> count(R, N); count(_, N) -> N.
both(<<A, B, R/binary>> = W) when A < B -> {A, B, R, W}; both(<<R/bitstring>>) -> {other, R}.
deep(<<X, R/binary>>, N) -> Y = deep(R, N + 1), {X, N, Y, R}; deep(<<>>, _) -> done.
keep(<<_, R/binary>> = B, A) -> keep(R, [B, R | A]); keep(<<>>, A) -> A.
sum(<<X:4, R/bitstring>>, N) -> sum(R, N + X); sum(<<>>, N) -> N.
