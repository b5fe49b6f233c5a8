%% The old functions of string.
-module(mx_string_old).
-export([main/0]).
main() ->
    Ss = ["", "abc", "  a b ", a, "banana"],
    m:fs(string, [len, strip, to_lower, to_upper, words], [Ss]), m:fs(string, [chr, rchr], [Ss, [$a, $z, a]]),
    m:fs(string, [str, rstr, span, cspan, tokens, concat], [Ss, ["a", "an", "", a]]), m:fs(string, [left, right, centre], [Ss, [0, 3, 8, -1, a]]),
    m:fs(string, [left, right, centre], [Ss, [0, 8], [$., a]]), m:f(string, substr, [Ss, [0, 1, 3, 9, a]]), m:f(string, substr, [Ss, [1, 2], [0, 1, 9, -1]]),
    m:f(string, sub_string, [Ss, [0, 1, 3]]), m:f(string, sub_string, [Ss, [1, 2], [1, 3, 9]]), m:f(string, sub_word, [Ss, [0, 1, 2, 9]]), m:f(string, strip, [Ss, [left, right, both, bad]]),
    m:f(string, join, [[[], ["a"], ["a", "b"], a], [", ", ""]]), m:f(string, chars, [[$x, a], [0, 3, -1]]), m:f(string, copies, [["ab", a], [0, 3, -1]]).
