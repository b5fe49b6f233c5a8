%% Random text through the scanner, the parser and io_lib:fread.
-module(prop_scan).
-export([main/0]).
main() ->
    g:seed(15), g:digest(tokens, g:times(1500, fun(_) -> S = text(), {S, erl_scan:string(S, 1, [])} end)), g:digest(parsed, g:times(800, fun(_) -> S = text() ++ ".", {S, case erl_scan:string(S) of {ok, T, _} -> [erl_parse:parse_exprs(T), erl_parse:parse_form(T)]; E -> E end} end)), g:digest(fread, g:times(600, fun(_) -> F = lists:append(g:list(fun() -> g:one(["~d", "~f", "~s", "~a", "~c", "~u", "~#", "~-", "~2d", "~*d", "~l", " ", ",", "~16u", "~n", "~~"]) end, 3)), S = g:list(fun() -> g:one("12 .,-+abe16#f") end, 10), {F, S, try io_lib:fread(F, S) catch _:R -> R end} end)).
text() ->
    lists:append(g:list(fun() -> g:one(["1", "16#f", "1.5", "1e", "1.0e5", "$a", "$\\n", "\"s\"", "'q", "'a b'", "X", "_", "foo", "->", "(", ")", "[", "]", "|", "||", "<<", ">>", "#", "{", "}", ",", ";", ":", "=", "=:=", "==", "/", "+", "-", "!", "fun", "end", "case", "of", "when", " ", " ", "\n", "%c\n", "1_0", "2#101", "37#1", "\"\\x{41}\"", "..", "?", "é", "漢", "\t", "$", ":=", "=>", "<-", "<=", "begin", "andalso", "catch", "12345678901234567890"]) end, 9)).
