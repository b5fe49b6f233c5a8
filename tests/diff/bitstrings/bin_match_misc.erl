%% Matching tails, sizes from earlier segments, floats, backtracking, aliases.
-module(bin_match_misc).
-export([main/0]).
main() ->
    t:p([packet(B) || B <- [<<1, 3, "abcdef">>, <<2, 0, 2, "xy">>, <<3>>, <<1, 9, "a">>, <<4, 1.5:64/float>>, <<5, 1.5:32/float, "r">>]]),
    t:p([tail(B) || B <- [<<>>, <<1>>, <<1, 2, 3>>, <<1:1>>, <<1:9>>, <<1:17>>]]),
    t:p([nan(B) || B <- [<<255, 255, 255, 255, 255, 255, 255, 255>>, <<127, 240, 0, 0, 0, 0, 0, 0>>, <<64, 9, 33, 251, 84, 68, 45, 24>>]]),
    t:p(words(<<"the quick  brown fox">>, [], [])),
    t:p(half([<<60, 0>>, <<124, 0>>, <<126, 1>>, <<0, 1>>, <<128, 0>>])),
    B = t:id(<<1, 2, 3, 4>>),
    One = t:id(1),
    <<X:(One + 1)/binary, Y/binary>> = B,
    t:p({X, Y}),
    <<_, Z:2/binary, _>> = W = B,
    t:p({Z, W}),
    t:pc(fun() -> <<Q:3/binary>> = t:id(B), Q end),
    t:pc(fun() -> N = t:id(-1), <<Q:N>> = t:id(B), Q end),
    t:pc(fun() -> N = t:id(a), <<Q:N>> = t:id(B), Q end),
    t:pc(fun() -> <<Q>> = t:id(atom), Q end),
    <<S:3, R/bits>> = B,
    t:p({S, R, bit_size(R), is_binary(R)}),
    t:p([f(E) || E <- [<<"GET /">>, <<"POST /">>, <<"GETX">>, <<>>]]),
    t:p(big(<<0:1000/unit:8, 7>>)).
packet(<<1, L, D:L/binary, R/binary>>) -> {one, D, R};
packet(<<2, L:16, D:L/bytes>>) -> {two, D};
packet(<<4, F/float>>) -> {four, F};
packet(<<5, F:32/float, R/binary>>) -> {five, F, R};
packet(Other) -> {other, Other}.
tail(<<>>) -> empty; tail(<<_, T/binary>>) -> {bytes, T}; tail(<<_:1, T/bits>>) -> {bits, T}.
nan(<<F/float>>) -> {float, F}; nan(<<X:64>>) -> {int, X}.
words(<<$\s, R/binary>>, [], Acc) -> words(R, [], Acc);
words(<<$\s, R/binary>>, W, Acc) -> words(R, [], [lists:reverse(W) | Acc]);
words(<<C, R/binary>>, W, Acc) -> words(R, [C | W], Acc);
words(<<>>, [], Acc) -> lists:reverse(Acc);
words(<<>>, W, Acc) -> lists:reverse([lists:reverse(W) | Acc]).
half(L) -> [case B of <<F:16/float>> -> F; _ -> none end || B <- L].
f(<<"GET ", R/binary>>) -> {get, R}; f(<<"POST ", R/binary>>) -> {post, R}; f(_) -> none.
big(<<_:1000/binary, X>>) -> X.
