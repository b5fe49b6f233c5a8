%% Conversions of unicode on every list, binary and encoding, with errors and rests.
-module(mx_string_unicode).
-export([main/0]).
main() ->
    Ds = ["abc", [16#6F22, 233], <<"é"/utf8>>, <<233>>, [<<195>>, <<169>>], <<226, 130>>, [a], a, [16#110000], [16#D800], <<16#D83D:16, 16#DE00:16>>, <<0, 0, 0, 97>>, [], [[[]]], ["a" | <<"b">>], <<1:3>>], Es = [latin1, utf8, utf16, {utf16, little}, utf32, {utf32, big}, unicode, bad],
    m:f(unicode, characters_to_list, [Ds, Es]),
    m:f(unicode, characters_to_binary, [Ds, [latin1, utf8, utf16, bad], Es]),
    m:fs(unicode, [characters_to_nfc_list, characters_to_nfd_binary, characters_to_nfkc_binary, characters_to_nfkd_list], [Ds]),
    m:f(unicode, encoding_to_bom, [Es]),
    m:f(unicode, bom_to_encoding, [[<<>>, <<239, 187, 191>>, <<254, 255>>, <<255, 254>>, <<255, 254, 0, 0>>, <<0, 0, 254, 255>>, <<1>>, a]]).
