%% Every function of the module unicode.
-module(mx_unicode).
-export([main/0]).
main() ->
    Ds = ["abc", [233], [16#6F22], [16#D800], [16#110000], [-1], <<"é"/utf8>>, <<233>>, <<195>>, [<<195>>, <<169>>], [<<"a">>, [$b | <<"c">>]], [a], a, <<1:1>>, [$a | $b], [101, 769], [16#1100, 16#1161, 16#11A8]],
    m:fs(unicode, [characters_to_binary, characters_to_list, characters_to_nfc_list, characters_to_nfd_list, characters_to_nfkc_list, characters_to_nfkd_list, characters_to_nfc_binary, characters_to_nfd_binary], [Ds]),
    Es = [latin1, utf8, unicode, utf16, {utf16, little}, utf32, {utf32, little}, bad, 1],
    m:f(unicode, characters_to_list, [Ds, Es]), m:f(unicode, characters_to_binary, [Ds, Es, Es]), m:f(unicode, characters_to_binary, [Ds, Es]),
    m:f(unicode, bom_to_encoding, [[<<>>, <<239, 187, 191>>, <<254, 255>>, <<255, 254>>, <<255, 254, 0, 0>>, <<0, 0, 254, 255>>, a]]),
    m:f(unicode, encoding_to_bom, [Es]).
