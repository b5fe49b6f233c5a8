%% Comprehensions: nested, filters that fail, generators over what is no list,
%% binary generators with guards, shadowing, side effects in order.
-module(comp_more).
-export([main/0]).
main() ->
    t:p([{X, Y, Z} || X <- [1, 2, 3], Y <- lists:seq(X, 3), Z <- [X * Y], Z rem 2 =:= 0]),
    t:p([[Y || Y <- X, is_integer(Y)] || X <- [[1, a], [], [b, 2, 3]]]),
    t:p([X || {ok, X} <- [{ok, 1}, error, {ok, 2, 3}, {ok, 4}]]), t:p([X || [X, X] <- [[1, 1], [1, 2], [2, 2]]]),
    t:p([X || X <- [1, 2, 3], X > 1, X < 3]), t:p([X || X <- [1, a, 2], hd([X]) =:= a orelse X > 1]), t:p([X || X <- [{1}, 2, {3}], element(1, X) > 0]),
    [t:p(t:st(F)) || F <- [fun() -> [X || X <- t:id(a)] end, fun() -> [X || X <- t:id([1 | 2])] end, fun() -> [X || <<X>> <= t:id(a)] end, fun() -> << <<X>> || X <- t:id({})>> end,
                           fun() -> [X || X <- [1, 2], t:id(foo)] end, fun() -> [X || X <- [1], X + a] end, fun() -> << <<X>> || X <- [1, t:id(b)] >> end, fun() -> << (t:id(X)) || X <- [1] >> end,
                           fun() -> << <<(t:id(X))/bits>> || X <- [<<1:3>>, <<2:5>>, c] >> end]],
    t:p([X || <<X:4>> <= <<16#1234:16>>, X =/= 2]), t:p([{A, B} || <<A:3, B:5>> <= <<1, 2, 3>>]), t:p([X || <<X:3>> <= <<1, 2>>]), t:p([S || <<L, S:L/binary>> <= <<1, "a", 2, "bc", 0, 3, "de">>]),
    t:p(<< <<X:2, Y:3>> || X <- [1, 2, 3], Y <- [4, 5] >>), t:p(<< <<(X + 1)>> || <<X>> <= <<"HAL">> >>), t:p(<< <<C/utf8>> || C <- "añ€" >>), t:p([C || <<C/utf8>> <= <<"añ€"/utf8>>]),
    t:p([X || <<X/float>> <= <<1.5/float, 2.5/float, 7>>]), t:p([X || <<X:2/signed-little-integer-unit:8>> <= <<1, 255, 3, 4>>]),
    X = shadow, t:p([X || X <- [1, 2]]), t:p(X), t:p([fun() -> Y end() || Y <- [a, b]]),
    t:p([{K, V} || {K, V} <- lists:sort(maps:to_list(#{a => 1, b => 2})), V > 1]),
    t:p([begin put(n, N + 1), N end || _ <- [a, b, c], N <- [case get(n) of undefined -> 0; M -> M end]]),
    t:p(length([1 || _ <- lists:seq(1, 100000), _ <- [x, y]])), t:p(byte_size(<< <<N:16>> || N <- lists:seq(1, 50000) >>)),
    t:p([A + B || A <- [1, 2], B <- [10, 20], A =/= B div 10]), t:p([E || E <- "hello", not lists:member(E, "l")]), t:p([Z || Z = {_, B} <- [{1, 2}, {3, 4}], B > 2]),
    t:p([if N rem 15 =:= 0 -> fizzbuzz; N rem 5 =:= 0 -> buzz; N rem 3 =:= 0 -> fizz; true -> N end || N <- lists:seq(1, 20)]),
    t:p([[R || R <- lists:seq(1, C)] || C <- [0, 1, 2]]), t:p([catch 1 / D || D <- [1, 0, 2]] =:= x), t:p([try V / 0 catch error:badarith -> V end || V <- [1, 2]]),
    t:p([T || #{k := T} <- [#{k => 1}, #{j => 2}, #{k => 3, l => 4}, x]]), t:p([B || <<B:8/bits>> <= <<1, 2:7>>]), t:p([B || <<_:1, B:9/bits, _:6>> <= <<1, 2, 3, 4>>]),
    t:p(<< <<B/bits, 1:1>> || <<B:3/bits>> <= <<16#ABCDEF:24>> >>).
