%% Binary and bit string segments, string literals, mixed alignment.
-module(bin_build_segments).
-export([main/0]).
main() ->
    A = t:id(<<1, 2, 3, 4, 5>>), B = t:id(<<5:3>>), C = t:id(<<"hello", 3:2>>),
    t:p(<<A/binary, A/binary>>),
    t:p(<<B/bitstring, A/binary, B/bitstring>>),
    t:p(<<A:2/binary, C/bits>>),
    t:p(<<A:1/binary-unit:16, 9>>),
    t:p(<<C:9/bits, 1:7>>),
    t:p(<<"abc", "defg":16, "xyz":16/little, "é"/utf8>>),
    t:p(<<0:4, "abc", 0:4>>),
    [t:pc(I, F) || {I, F} <- [{1, fun() -> <<B/binary>> end}, {2, fun() -> <<A:6/binary>> end},
        {3, fun() -> <<(t:id(foo))/binary>> end}, {4, fun() -> <<A:(t:id(-1))/binary>> end},
        {5, fun() -> <<(t:id([1]))/bits>> end}, {6, fun() -> <<A:(t:id(2))/binary, B:(t:id(2))/bits>> end}]],
    Big = binary:copy(A, 50),
    t:p(<<Big/binary, B/bits, Big/binary>>),
    t:p(erlang:md5(<<B/bits, Big/binary, 0:5>>)),
    t:p(lists:foldl(fun(I, Acc) -> <<Acc/binary, I:16>> end, <<>>, lists:seq(1, 40))),
    t:p(lists:foldl(fun(I, Acc) -> <<Acc/bits, I:5>> end, <<>>, lists:seq(1, 40))),
    S = lists:foldl(fun(_, Acc) -> <<Acc/binary, "x">> end, <<>>, lists:seq(1, 1000)),
    S1 = <<S/binary, "a">>, S2 = <<S/binary, "b">>,
    t:p({byte_size(S1), byte_size(S2), binary:last(S1), binary:last(S2), S1 =:= S2}).
