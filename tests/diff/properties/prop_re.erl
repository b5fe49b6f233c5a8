%% Random patterns on random subjects, bytes and Unicode, with random options.
-module(prop_re).
-export([main/0]).
main() ->
    g:seed(11), g:digest(runs, g:times(1500, fun(_) -> P = alt(2), S = g:list(fun() -> g:one("aabbcAB1 \n_-") end, 12), O = opts(), {P, S, O, try re:run(S, P, [{capture, all, list} | O]) catch _:R -> R end} end)),
    g:digest(unicode, g:times(500, fun(_) -> P = alt(1), S = g:list(fun() -> g:one("aäbÄ漢1 ß") end, 8), {P, S, try re:run(S, P, [unicode, ucp, caseless, {capture, all, index}]) catch _:R -> R end} end)),
    g:digest(replace, g:times(300, fun(_) -> P = alt(1), S = g:list(fun() -> g:one("aabbc1 ") end, 12), {P, S, try re:replace(S, P, "<&\\1>", [global, {return, list}]) catch _:R -> R end} end)), g:digest(split, g:times(300, fun(_) -> P = alt(1), S = g:list(fun() -> g:one("aabbc1 ") end, 12), {P, S, try re:split(S, P, [{return, list} | g:one([[], [trim], [group], [{parts, 2}]])]) catch _:R -> R end} end)).
opts() ->
    [O || O <- [caseless, multiline, dotall, extended, ungreedy, anchored, dollar_endonly, firstline, no_auto_capture, notempty, notbol, noteol, global, {offset, 0}], g:int(10) =:= 0].
alt(D) -> lists:append(lists:join("|", [seq(D) || _ <- lists:seq(1, g:one([1, 1, 2]))])).
seq(D) -> lists:append([item(D) || _ <- lists:seq(1, 1 + g:int(3))]).
item(D) -> atom(D) ++ g:one(["", "", "", "*", "+", "?", "{1,2}", "*?", "+?", "{2}", "++"]).
atom(0) -> g:one(["a", "b", "c", ".", "[ab]", "[^a]", "\\w", "\\d", "\\s", "A", "ä", "[[:upper:]]", "1"]);
atom(D) -> case g:int(8) of 0 -> "(" ++ alt(D - 1) ++ ")"; 1 -> "(?:" ++ alt(D - 1) ++ ")"; 2 -> "(?=" ++ alt(D - 1) ++ ")"; 3 -> "(?i:" ++ seq(D - 1) ++ ")"; 4 -> g:one(["^", "$", "\\b", "\\B", "\\A", "\\z", "\\Z"]) ++ atom(0); _ -> atom(0) end.
