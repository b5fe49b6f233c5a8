%% iolist_to_binary, iolist_size, iolist_to_iovec, list_to_binary.
-module(iolists).
-export([main/0]).
main() ->
    Big = binary:copy(<<"0123456789">>, 20), Ls = [[], "abc", [1, [2, [<<3>>]], <<"x">>], [<<"a">> | <<"b">>], <<"bin">>, [[[[]]]], [Big, 1, Big], ["x" | Big], [255, 0]], [t:p({iolist_to_binary(L), iolist_size(L), iolist_to_binary(erlang:iolist_to_iovec(L))}) || L <- Ls], [t:pc(L, fun() -> iolist_to_binary(L) end) || L <- [a, [a], [256], [-1], [1.0], [<<1:3>>], [1 | 2], 5, {}]], [t:pc(L, fun() -> iolist_size(L) end) || L <- [a, [a], [256], [1 | 2]]], t:pc(fun() -> list_to_binary(t:id(<<"x">>)) end), Deep = lists:foldl(fun(I, A) -> [A, I band 255, <<I:16>>] end, [], lists:seq(1, 50000)), t:p(erlang:md5(iolist_to_binary(Deep))), t:p(iolist_size(Deep)), Right = lists:foldr(fun(I, A) -> [I band 255 | [<<"q">> | A]] end, [], lists:seq(1, 50000)), t:p(erlang:md5(Right)).
