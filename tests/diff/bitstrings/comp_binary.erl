%% Binary comprehensions and binary generators.
-module(comp_binary).
-export([main/0]).
main() ->
    t:p([X || <<X>> <= <<1, 2, 3>>]),
    t:p(<< <<(X * 2)>> || <<X>> <= <<1, 2, 3>> >>),
    t:p(<< <<X:16>> || X <- [1, 2, 300] >>),
    t:p([{A, B} || <<A:4, B:4>> <= <<16#12, 16#34>>]),
    t:p(<< <<X:3>> || X <- [1, 2, 3, 4, 5, 6, 7] >>),
    t:p([X || <<X:7>> <= <<1, 2, 3, 4>>]),
    t:p([X || <<1, X>> <= <<1, 2, 2, 3, 1, 4, 9>>]),
    t:p(<< <<B/binary, $,>> || B <- [<<"a">>, <<"bc">>, <<>>] >>),
    t:p([C || <<C/utf8>> <= <<"aé€😀"/utf8>>]),
    t:p(<< <<C/utf16>> || <<C/utf8>> <= <<"aé€😀"/utf8>> >>),
    t:p([{L, S} || <<L, S:L/binary>> <= <<1, "a", 3, "bcd", 0, 2, "x">>]),
    t:p([F || <<F:64/float>> <= <<1.5:64/float, 2.5:64/float>>]),
    t:p(<< <<X>> || X <- lists:seq(1, 20), X rem 3 =:= 0 >>),
    t:p(byte_size(<< <<X:32>> || X <- lists:seq(1, 20000) >>)),
    t:pc(fun() -> << <<X>> || X <- t:id([1, a]) >> end),
    t:pc(fun() -> << <<X/binary>> || X <- t:id([<<1>>, <<1:1>>]) >> end),
    t:pc(fun() -> [X || <<X>> <= t:id(foo)] end),
    t:p(<< (<<X:2>>) || X <- [0, 1, 2, 3, 3] >>),
    t:p([X || <<X:2>> <= <<1:1, 2:2, 3:2>>]).
