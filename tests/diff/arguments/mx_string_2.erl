%% The module string: two strings.
-module(mx_string_2).
-export([main/0]).
main() ->
    Ss = ["", "abc", "a b a", <<"abcabc">>, [101, 769, $x], ["a", <<"b">>], a, "É", "x\r\ny"],
    Ps = ["", "b", "a", <<"bc">>, [101], [[101, 769]], "\r\n", "\n", a],
    m:fs(string, [equal, prefix, find, split, lexemes, nth_lexeme, take, concat, str, rstr, chr], [Ss, Ps]),
    m:f(string, equal, [Ss, Ss, [true, false, a]]), m:f(string, equal, [Ss, ["ABC", "É", [101, 769]], [true], [none, nfc, nfd, bad]]),
    m:f(string, find, [Ss, Ps, [leading, trailing, bad]]), m:f(string, split, [Ss, Ps, [leading, trailing, all, bad]]),
    m:f(string, take, [Ss, Ps, [true, false], [leading, trailing]]), m:f(string, replace, [Ss, Ps, ["Z", ""], [leading, trailing, all]]),
    m:f(string, pad, [Ss, [0, 5, -1, a], [leading, trailing, both, bad]]), m:f(string, pad, [["ab", <<"é"/utf8>>], [4], [both], [$., [101, 769], "ab", a]]),
    m:f(string, jaro_similarity, [["", "abc", "martha"], ["", "abc", "marhta", a]]).
