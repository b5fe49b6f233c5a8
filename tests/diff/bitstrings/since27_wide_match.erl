%% since 27
%% Matches of segments that are as long as few bit strings, or longer than any.
-module(since27_wide_match).
-export([main/0]).

main() ->
    Long = binary:copy(<<255>>, (1 bsl 28) + 1),
    t:pc(exactly, fun() -> exactly(Long) end),
    t:pc(exactly_short, fun() -> exactly(<<1, 2>>) end),
    t:pc(one_byte_more, fun() -> one_byte_more(Long) end),
    t:pc(more_than_there_can_be, fun() -> [impossible(B) || B <- [<<>>, <<1, 2>>, Long]] end),
    t:pc(beyond_small_integers, fun() -> [huge(B) || B <- [<<>>, <<1, 2>>, Long]] end),
    t:pc(with_tail, fun() -> [huge_tail(B) || B <- [<<>>, <<1, 2>>, Long]] end),
    t:pc(parts, fun() -> {A, B} = parts(Long), {byte_size(A), byte_size(B)} end),
    t:pc(parts_short, fun() -> parts(<<1, 2, 3>>) end).

exactly(<<B:8, _:16#8000_0000>>) -> B;
exactly(_) -> no.
one_byte_more(<<B:8, _:16#8000_0008>>) -> B;
one_byte_more(_) -> no.
impossible(<<B:8, _:16#400_0000_0000_0000>>) -> B;
impossible(_) -> no.
huge(<<B:8, _:16#8000_0000_0000_0000>>) -> B;
huge(_) -> no.
huge_tail(<<B:8, _:16#8000_0000_0000_0000, _/binary>>) -> B;
huge_tail(_) -> no.
parts(<<A:16#1000_0000/binary, B/binary>>) -> {A, B};
parts(_) -> no.
