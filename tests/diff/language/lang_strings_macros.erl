%% Literals of every notation: characters, strings, numbers, escapes.
-module(lang_strings_macros).
-export([main/0]).
-define(M(A, B), {A, B, A}).
-define(S(X), ??X).
-define(E, []).
-define(A, a).
-define(B(X), {?A, X}).
-define(N(X), [X, X]).
main() ->
    t:p([$a, $\n, $\x41, $\x{1F600}, $\101, $\^a, $\s, $\d, $\\, $', $"]),
    t:p(["a\x41\x{263a}b" "joined" " twice", "\
", "tab\tq\"", "\^A\^@"]),
    t:p([1_000_000, 16#FF, 2#1010_1010, 36#Zz, 1.5e3, 1.5E-3, 16#ffff_ffff_ffff_ffff_f, -0.0, 1_0.2_5]),
    t:p(['quoted atom', 'it\'s', '\x{263a}', 'a\nb', '']),
    t:p(<<"é", "é"/utf8, "ab":16, $a:16, 1.5/float, "x"/utf16, -1:4, 2#1:1, 7:3>>),
    t:p([?LINE > 0, ?MODULE, ?FUNCTION_NAME, ?FUNCTION_ARITY, ?M(1, 2), ?S(a + b), ?E]),
    t:p({?A, ?B(x), ?N(?N(1))}),
    t:p([- - 1, + - 1, not not true, bnot bnot 5, 1 - -1, 2 - - 2]),
    t:p([1 + 2 * 3, (1 + 2) * 3, 10 div 3 * 3, 1 bsl 2 + 1, 7 band 3 bor 8, 5 rem 3 - 1, 2 * 3 rem 4, - 2 * 3, (1 < 2) == true]),
    t:p([1, 2] ++ [3] -- [1] ++ [4]),
    t:p(catch [1, 2, 3] -- [1] -- [1]).
