%% What native code answers by itself about the order of tuples and the length of lists, and what lies
%% right beside that.
-module(native_order).
-export([main/0]).

main() ->
    Terms = terms(),
    t:p([compared(A, B) || A <- Terms, B <- Terms]),
    t:p(lists:sort([{rand_like(I), I, x} || I <- lists:seq(1, 200)])),
    t:p(lists:min([{9, 1 bsl 70}, {9, 4.5}, {9, 4}, {9, a}])),
    [t:pc(fun() -> {L, length(t:id(L))} end) || L <- lists()],
    [t:p({L, guard(L)}) || L <- lists()],
    [t:p(t:st(fun() -> 1 + length(t:id(L)) end)) || L <- [[a | b], {}, #{}]],
    t:p(length(lists:seq(1, 100000)) + length(lists:duplicate(1000, []))).

terms() ->
    Big = 1 bsl 64,
    [{}, {1}, {2}, {a}, {[]}, {1, 2}, {1, 3}, {1, -3}, {-1, 3}, {1, 2.0}, {1.0, 2}, {1, {2}}, {1, {3}}, {1, [2]},
     {1, 2, 3}, {1, 2, 4}, {1, 2, a}, {a, 2, 1}, {b, 2, 1}, {1, Big}, {1, Big + 1}, {1, -Big}, {Big, 1}, {1, 1.5},
     {{1, 2}, 1}, {{1, 2}, 2}, {{1, 3}, 0}, {<<"a">>, 1}, {<<"a">>, 2}, {<<"b">>, 0}, {#{}, 1}, {#{a => 1}, 0},
     {1 bsl 59 - 1, 0}, {-(1 bsl 59), 0}, {1 bsl 59, 0}, [], [1], 1, a, 1.0, <<"x">>, self, #{}].

compared(A, B) ->
    {sign(A < B), sign(A =< B), sign(A == B), sign(A /= B), sign(A > B), sign(A >= B), sign(copy(A) == A)}.

sign(true) -> 1;
sign(false) -> 0.

copy(Term) -> binary_to_term(term_to_binary(Term)).

rand_like(I) -> I * 7919 rem 31.

lists() -> [[], [a], [a, b], [a | b], [a, b | c], {}, <<>>, 1, nil, lists:seq(1, 64), "text" ++ [x | y]].

guard(L) when length(L) > 1 -> more;
guard(L) when length(L) =:= 1 -> one;
guard(L) when length(L) =:= 0; is_tuple(L) -> none_or_tuple;
guard(_) -> no_list.
