%% The module binary: replacing, numbers, prefixes.
-module(mx_binary_mod_3).
-export([main/0]).
main() ->
    Bs = m:bins() ++ [<<"abcabc">>],
    m:f(binary, replace, [Bs, [<<"b">>, <<"c">>, <<>>], [<<"XX">>, <<>>, a], [[], [global], [{insert_replaced, 1}], [global, {insert_replaced, [0, 1]}], [{insert_replaced, 9}], [bad]]]),
    m:f(binary, replace, [Bs, [<<"b">>], [fun(X) -> <<X/binary, X/binary>> end, fun() -> a end, fun(_) -> a end]]),
    m:f(binary, encode_unsigned, [m:ints()]), m:f(binary, encode_unsigned, [m:ints(), [big, little, bad]]),
    m:f(binary, decode_unsigned, [Bs]), m:f(binary, decode_unsigned, [Bs, [big, little, bad]]),
    m:fs(binary, [longest_common_prefix, longest_common_suffix], [[[], [<<"ab">>], [<<"abc">>, <<"abd">>], [<<"xa">>, <<"ya">>], [<<>>, <<"a">>], [<<"a">> | b], [a], a, [<<1:1>>]]]),
    m:f(binary, encode_hex, [Bs, [uppercase, lowercase, bad]]).
