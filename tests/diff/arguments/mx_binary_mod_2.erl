%% The module binary: patterns.
-module(mx_binary_mod_2).
-export([main/0]).
main() ->
    Ps = [<<"b">>, <<"ab">>, [<<"a">>, <<"bc">>], <<>>, [], [<<>>], a, [a], <<1:1>>, binary:compile_pattern(<<"b">>), binary:compile_pattern([<<"a">>, <<"c">>]), [<<"abc">>, <<"a">>, <<"b">>]],
    Bs = m:bins() ++ [<<"abcabc">>, <<"bbb">>],
    m:fs(binary, [match, matches, split], [Bs, Ps]),
    m:fs(binary, [match, matches], [Bs, Ps, [[], [{scope, {0, 1}}], [{scope, {1, 2}}], [{scope, {3, -3}}], [{scope, {0, 99}}], [bad], bad, [{scope, a}]]]),
    m:f(binary, split, [Bs, Ps, [[global], [trim], [trim_all, global], [global, trim], [{scope, {1, 2}}], [bad]]]),
    m:f(binary, compile_pattern, [[<<>>, [], a, [a], [<<>>], <<1:1>>]]).
