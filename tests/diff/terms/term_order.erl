%% The order of terms across all types.
-module(term_order).
-export([main/0]).
main() ->
    P = self(), R = make_ref(), F = fun() -> ok end,
    L = [{a, b}, "list", [], [a | b], atom, 'Atom', 3, 3.5, -1, 1 bsl 80, -(1 bsl 80), #{b => 1}, #{a => 1}, #{a => 2},
         #{}, #{a => 1, b => 1}, <<>>, <<1>>, <<1:1>>, <<0, 1>>, {}, {a}, {z}, {a, a}, {1, 2, 3}, [1], [1, 2], [1.0], P, R, F, ''],
    S = lists:sort(L),
    t:p([case X of P -> pid; R -> ref; F -> 'fun'; _ -> X end || X <- S]),
    t:p(lists:usort([1, 1.0, 2.0, 2, a, a, {1}, {1.0}])),
    t:p(lists:sort([1.0, 1, 1.0, 1])),
    t:p(lists:sort(fun(A, B) -> A >= B end, [3, 1, 2])),
    t:p({1 < a, a < R, R < F, F < P, P < {}, {} < #{}, #{} < [], [] < [1], [1] < <<>>}),
    t:p({9007199254740993 < 9007199254740992.0, 9007199254740993 == 9007199254740992.0,
         9007199254740993 > 9007199254740992.0, 1 bsl 1000 > 1.0e300, -(1 bsl 1030) < -1.7e308}),
    t:p({max(1, 1.0), max(1.0, 1), min(1, 1.0), min(1.0, 1), max(a, "x"), min(<<>>, [])}).
