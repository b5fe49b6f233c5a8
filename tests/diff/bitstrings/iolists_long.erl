%% I/O lists of many pieces made binaries, in one turn and in several; and what is wrong far inside.
-module(iolists_long).
-export([main/0]).

main() ->
    [t:p({Name, N, made(F(N))}) || {Name, F} <- shapes(), N <- [0, 1, 1000, 1023, 1024, 1025, 5000, 300000]],
    [t:pc(fun() -> iolist_to_binary(wrong(N, Bad)) end)
     || N <- [10, 2000, 200000], Bad <- [256, -1, a, <<1:3>>, {}, 1 bsl 70, 1.0]],
    t:pc(fun() -> list_to_binary([lists:duplicate(2000, 7) | a]) end),
    t:pc(fun() -> list_to_binary([lists:duplicate(2000, 7) | <<1:1>>]) end),
    Large = binary:copy(<<"large">>, 1000),
    t:p(iolist_to_binary([lists:duplicate(2000, []), Large]) =:= Large).

made(L) ->
    B = iolist_to_binary(L),
    {byte_size(B), erlang:crc32(B), iolist_size(L) =:= byte_size(B),
     B =:= iolist_to_binary(erlang:iolist_to_iovec(L))}.

shapes() ->
    [{bytes, fun(N) -> [I rem 256 || I <- lists:seq(1, N)] end},
     {binaries, fun(N) -> [<<I:16>> || I <- lists:seq(1, N)] end},
     {deep, fun(N) -> lists:foldl(fun(I, L) -> [L, I rem 256] end, [], lists:seq(1, N)) end},
     {tails, fun(N) -> lists:foldl(fun(I, L) -> [[I rem 256 | <<I:8>>] | L] end, <<"end">>, lists:seq(1, N)) end},
     {askew, fun(N) -> [askew(I) || I <- lists:seq(1, min(N, 5000))] end},
     {mixed, fun(N) -> [[[], [I rem 100, [[<<"and">>]]], "text", binary:copy(<<I:8>>, I rem 70)]
                        || I <- lists:seq(1, min(N, 5000))] end}].

askew(I) ->
    <<_:3, B:2/binary, _/bits>> = <<I:32>>,
    B.

wrong(N, Bad) -> [lists:duplicate(N, <<"x">>), [[Bad]], "more"].
