%% Random bytes and code points through every conversion of unicode and string.
-module(prop_unicode).
-export([main/0]).
main() ->
    g:seed(14), Es = [latin1, utf8, utf16, {utf16, little}, utf32, {utf32, little}], g:digest(bytes, g:times(1500, fun(_) -> B = bytes(), E = g:one(Es), {B, E, [r(fun() -> unicode:characters_to_list(B, E) end), r(fun() -> unicode:characters_to_binary(B, E, g:one(Es)) end)]} end)), g:digest(lists, g:times(700, fun(_) -> L = deep(2), {L, [r(fun() -> unicode:characters_to_list(L) end), r(fun() -> unicode:characters_to_binary(L, utf8, g:one(Es)) end), r(fun() -> unicode:characters_to_binary(L, latin1, utf8) end)]} end)), g:digest(bom, g:times(200, fun(_) -> B = <<(g:one([<<239, 187, 191>>, <<254, 255>>, <<255, 254>>, <<0, 0, 254, 255>>, <<255, 254, 0, 0>>, <<>>]))/binary, (g:bin(4))/binary>>, {B, unicode:bom_to_encoding(B)} end)), g:digest(norm, g:times(300, fun(_) -> S = g:list(fun() -> g:one([$a, 769, $é, 16#1100, 16#1161, 16#11A8, 16#AC00, 16#0344, 16#1E9B, 16#323, 16#2126, 16#FB01, 16#1D15E, 803]) end, 6), {S, [unicode:F(S) || F <- [characters_to_nfc_list, characters_to_nfd_list, characters_to_nfkc_list, characters_to_nfkd_list]]} end)), g:digest(string, g:times(300, fun(_) -> S = g:string(10), {S, [string:F(S) || F <- [length, reverse, uppercase, lowercase, casefold, titlecase, trim, to_graphemes, chomp, is_empty]]} end)).
r(F) -> try F() catch _:R -> R end.
bytes() ->
    list_to_binary(g:list(fun() -> g:one([<<$a>>, <<"é"/utf8>>, <<"漢"/utf8>>, <<16#10FFFF/utf8>>, <<16#ED, 16#A0, 16#80>>, <<16#C0, 16#80>>, <<16#F4, 16#90, 128, 128>>, <<255>>, <<0>>, <<0, $a>>, <<16#D8, 0>>, <<16#DC, 0>>, <<0, 0, 0, $b>>, <<16#E6>>, <<128>>, <<16#FF, 16#FE>>]) end, 6)).
deep(0) -> g:one([$a, 233, 16#6F22, 16#10FFFF, 16#D800, -1, 16#110000, x, <<"é"/utf8>>, <<255>>, []]);
deep(D) -> g:list(fun() -> case g:int(3) of 0 -> deep(D - 1); _ -> g:one([$a, $b, 233, 16#6F22, <<"é"/utf8>>, <<"x">>]) end end, 5) ++ g:one([[], [], [], <<"end">>, [deep(0)]]).
