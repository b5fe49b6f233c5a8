%% re:replace and re:split with each option.
-module(mx_re_text).
-export([main/0]).
main() ->
    Ss = ["abcabc", "", <<"a,b,,c">>, "äöü", [16#6F22, $b], a],
    Ps = ["b", "(b)(c)?", "", ",", "(?<x>,)", "["],
    m:f(re, replace, [Ss, Ps, ["X", "[&]", "\\1-\\2", "\\g{1}", "\\0", <<"\\\\">>, "", a, fun(W, _) -> [W, W] end], [[{return, list}], [global, {return, binary}], [{return, iodata}], [unicode, global, {return, list}], [bad]]]),
    m:f(re, split, [Ss, Ps, [[], [trim], [group], [{parts, 2}], [{parts, 0}], [{parts, -1}], [{return, list}], [{return, list}, unicode], [group, trim, {return, binary}], [bad], [{return, bad}]]]),
    m:f(re, inspect, [[a, {re_pattern, 1, 2, 3, <<>>}], [namelist, bad]]), t:p([m:outcome(re, inspect, [element(2, re:compile(P)), I]) || P <- ["(?<n>a)", "b"], I <- [namelist, bad, 1]]), t:p([case m:outcome(re, compile, [P, O]) of {ok, X} -> setelement(5, X, x); X -> X end || P <- Ps ++ [a, [a], <<1:1>>], O <- [[], [unicode], [bad], bad]]).
