%% base64 and hexadecimal texts.
-module(base64_hex).
-export([main/0]).
main() ->
    [t:p(S, {base64:encode(S), base64:encode_to_string(S), base64:decode(base64:encode(S))}) || S <- ["", "a", "ab", "abc", "abcd", <<255, 254, 253, 0>>, "hello, world"]], [t:pc(S, fun() -> base64:decode(S) end) || S <- ["YQ==", "YQ", "YQ=", "Y Q =\n=", "!!!!", "", "YWJj\nZGVm", "-_8="]], t:p(base64:mime_decode("Y*Q=-=")), t:p(binary:encode_hex(<<1, 171, 255>>)), t:p(binary:decode_hex(<<"01aBFf">>)), t:pc(fun() -> binary:decode_hex(<<"0">>) end), t:pc(fun() -> binary:decode_hex(<<"zz">>) end), B = list_to_binary([I rem 256 || I <- lists:seq(1, 10000)]), t:p(base64:decode(base64:encode(B)) =:= B), t:p(erlang:md5(base64:encode(B))).
