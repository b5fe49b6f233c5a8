%% Comprehensions over bit strings: nested, filtered, of odd sizes, with mismatches.
-module(bits_comp_nested).
-export([main/0]).
main() ->
    B = <<1, 2, 3, 4, 5>>, t:p([X || <<X:4>> <= B]), t:p([X || <<X:3>> <= B]), t:p(<< <<X:5>> || <<X>> <= B >>), t:p([{X, Y} || <<X>> <= B, <<Y:20>> <= B, X > 2]), t:p([X || <<X, 2>> <= <<1, 2, 3, 2, 4, 1, 5, 2>>]), t:p(<< <<Y, X>> || X <- [1, 2], <<Y>> <= <<8, 9>> >>),
    t:p([X || <<N, X:N/binary>> <= <<1, "a", 2, "bc", 0, 3, "de">>]), t:p(<< X || X <- [<<1:1>>, <<2:3>>] >>), t:p(t:c(fun() -> << <<X/binary>> || X <- [<<1>>, t:id(a)] >> end)), t:p(t:c(fun() -> [X || <<X>> <= t:id(a)] end)), t:p([F || <<F:32/float>> <= <<1.0:32/float, -1:32, 2.5:32/float>>]), t:p(<< <<(X * 2):N>> || X <- [1, 2, 3], N <- [4, 8] >>), t:p([C || <<C/utf8>> <= <<"aé", 255, "b">>]).
