%% Base64 of every length, with white space, bad characters, and modes of decoding.
-module(mx_base64_more).
-export([main/0]).
main() ->
    Bs = [<<>>, <<"a">>, <<"ab">>, <<"abc">>, <<255, 254, 253, 252>>, "list", [300], a, <<1:1>>, [<<"a">>, "b"]],
    m:fs(base64, [encode, encode_to_string], [Bs]),
    m:fs(base64, [decode, decode_to_string, mime_decode, mime_decode_to_string], [[<<>>, <<"YQ==">>, <<"YWI=">>, <<"YWJj">>, <<"YQ">>, <<"YQ=">>, <<"Y Q = =">>, <<"YW\nJj">>, <<"Y*Q==">>, <<"====">>, <<"YQ==YQ==">>, "YWJj", "Y W", <<"_-8=">>, <<"YR==">>, [a], a, <<255>>, <<"A">>, <<"AAAA=">>]]), [m:f(base64, F, [[binary:copy(<<"QUJD">>, N) || N <- [0, 1, 7, 100]]]) || F <- [decode, mime_decode]],
    m:f(binary, encode_hex, [Bs]),
    m:f(binary, encode_hex, [[<<171, 205>>], [lowercase, uppercase, bad]]),
    m:f(binary, decode_hex, [[<<"AbCd">>, <<"abc">>, <<"zz">>, <<>>, "ab", a]]).
