%% The module string: one string.
-module(mx_string_1).
-export([main/0]).
main() ->
    Ss = ["", "abc", " a b ", <<"abc">>, <<"É漢"/utf8>>, [101, 769, $x], ["a", <<"b">>], a, [a], [16#D800], <<255>>, "ǅ ß ŒŁ", [16#1F468, 16#200D, 16#1F469, $!], "\r\n\t x \x{A0}"],
    m:fs(string, [length, is_empty, to_graphemes, reverse, uppercase, lowercase, titlecase, casefold, next_grapheme, next_codepoint, trim, chomp, to_integer, to_float, lexemes], [Ss]),
    m:f(string, trim, [Ss, [leading, trailing, both, bad]]), m:f(string, trim, [Ss, [both], ["a", " a", [[101, 769]], a]]),
    m:f(string, slice, [Ss, [0, 1, 3, -1, a]]), m:f(string, slice, [Ss, [0, 1], [0, 1, 9, infinity, -1, a]]).
