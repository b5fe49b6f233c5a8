%% The module string on grapheme clusters, mixed depths of lists and binaries, odd separators.
-module(string_edges).
-export([main/0]).
main() ->
    Ss = ["", "abc", "  pad  ", "a,b,,c", <<"bin ärger"/utf8>>, ["deep", [<<" mix">>, $x]], [$e, 769, "x"], "\r\n\t x \n", "ÄÖÜß", <<>>, "12abc", "-3.5e2z", [16#1F468, 16#200D, 16#1F469]],
    m:fs(string, [length, to_graphemes, is_empty, reverse, trim, uppercase, lowercase, titlecase, casefold, next_grapheme, next_codepoint, chomp, to_integer, to_float], [Ss]),
    m:f(string, trim, [Ss, [leading, trailing, both, bad]]),
    m:f(string, trim, [["xxaxx", <<"xxaxx">>, "\r\nq"], [both], ["x", "ax", [[$\r, $\n]], ""]]),
    m:f(string, slice, [Ss, [0, 1, 5, 99]]),
    m:f(string, slice, [["abc", <<"äbc"/utf8>>], [0, 1, 4], [0, 1, 9, infinity]]),
    m:f(string, split, [Ss, [",", "", " ", "b", "zz", <<"a">>], [leading, trailing, all]]),
    m:fs(string, [find, prefix], [Ss, ["", "a", "b", "  ", <<"bin">>, "e"]]),
    m:f(string, find, [["abcabc", <<"abcabc">>], ["bc", "z"], [leading, trailing]]),
    m:f(string, replace, [["a,b,c", <<"x,y">>, ""], [",", "b"], ["", "--"], [leading, trailing, all]]),
    m:f(string, lexemes, [Ss, [", ", "", "b", [[$\r, $\n]]]]),
    m:f(string, nth_lexeme, [["a b c"], [1, 3, 4, 0], [" "]]),
    m:f(string, pad, [["a", <<"ä"/utf8>>, [$e, 769]], [0, 3, 4], [leading, trailing, both], [$., "*"]]),
    m:f(string, take, [Ss, ["abc ", ""], [true, false], [leading, trailing]]),
    m:f(string, equal, [["abc", "ABC", <<"abc">>, [$e, 769]], ["abc", "É", "é"], [true, false], [none, nfc, nfd]]),
    m:f(string, jaro_similarity, [["martha", ""], ["marhta", ""]]),
    m:fs(string, [left, right], [["abc"], [0, 2, 5]]),
    m:f(string, concat, [["a"], ["b", []]]),
    m:f(string, join, [[["a", "b"], []], [", "]]),
    m:fs(string, [tokens], [["a b,c", ""], [" ,", ""]]).
