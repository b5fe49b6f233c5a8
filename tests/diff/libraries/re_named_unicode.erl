%% Patterns with names, look-around, recursion, properties, in Unicode and bytes.
-module(re_named_unicode).
-export([main/0]).
main() ->
    [t:p({P, S, O}, t:c(fun() -> re:run(S, P, [{capture, all, list} | O]) end)) || {P, S, O} <- [{"(?<y>\\d{4})-(?<m>\\d\\d)", "on 2024-05-06", []}, {"(?<=a)b(?!c)", "abc ab", []}, {"(?i)ÄB", "xäb", [unicode, caseless]}, {"\\p{Lu}\\p{Ll}+", "wörld Élan", [unicode]}, {"^\\w+$", "éa", [unicode]}, {"^\\w+$", "éa", [unicode, ucp]}, {"\\((?:[^()]|(?R))*\\)", "x(a(b)c)y", []}, {"(a)|(b)", "b", []}, {"(?:(a)|b)*", "ab", []}, {"\\X", [$e, 769, $x], [unicode]}, {"\\bfoo\\b", "a foo b", []}, {"(?|(a)|(b))c", "bc", []}, {"(?(?=a)ab|cd)", "cd", []}, {"(a+)+$", "aaaaaaaaaaaaaaaa!", []}, {"\\x{263a}", [16#263a], [unicode]}, {"[[:alpha:]]+", "12ab", []}, {"a{2,3}?", "aaaa", []}, {"a++b", "aab", []}, {"(?>a+)ab", "aaab", []}, {"\\Qa.b\\E", "a.b", []}, {"(?#comment)x", "x", []}, {"x # y", "x", [extended]}, {".", "\n", []}, {".", "\n", [dotall]}, {"\\R", "\r\n", []}, {"\\N+", "ab\ncd", []}, {"\\K", "a", []}, {"a\\Kb", "ab", []}, {"(*UTF8)é", <<"é"/utf8>>, []}, {"\\1(a)", "aa", []}, {"(?<n>a)\\k<n>", "aa", []}, {"(?P<n>a)(?P=n)", "aa", []}, {"(?&x)(?<x>b)", "bb", []}, {"[^\\W\\d_]", "1_a", []}, {"\\d+(?=€)", "12€", [unicode]}]],
    t:p(re:run("abab", "(?<a>a)(?<b>b)", [global, {capture, [b, a], binary}])),
    t:p(re:run("ABC", "b", [caseless, {capture, none}])),
    t:p(re:replace("2024-05", "(?<y>\\d+)-(\\d+)", "\\2/\\g{1} & \\&", [{return, list}])),
    t:p(re:split("a1b22c", "\\d+", [{return, list}])),
    t:p(re:split("abc", "", [{return, list}])),
    t:p(re:split("a,b;c", "([,;])", [{return, binary}])),
    t:pc(fun() -> re:replace("aaa", "a", fun(W, _) -> W end, [global, {return, list}]) end),
    t:p([re:compile(P) || P <- ["(", "[z-a]", "a{3,2}", "(?<n>a)(?<n>b)", "\\p{Zz}", "*a", "(?z)", "\\"]]).
