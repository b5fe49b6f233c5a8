%% Characters in UTF-8, 16 and 32: built, matched, skipped, and broken ones refused.
-module(bits_utf_all).
-export([main/0]).
main() ->
    Cs = [0, 1, $a, 127, 128, 2047, 2048, 16#D7FF, 16#E000, 16#FFFE, 16#FFFF, 16#10000, 16#10FFFF],
    [t:p(C, [<<C/utf8>>, <<C/utf16>>, <<C/utf16-little>>, <<C/utf32>>, <<C/utf32-little>>]) || C <- Cs], t:p([begin <<A/utf8, B/utf16, D/utf32>> = <<C/utf8, C/utf16, C/utf32>>, {A, B, D} =:= {C, C, C} end || C <- Cs]), t:p(<< <<(C + 1)/utf16>> || <<C/utf8>> <= <<"aé漢𝄞"/utf8>> >>),
    [t:p(B, {case B of <<C/utf8, R/binary>> -> {C, R}; _ -> no end, case B of <<C1/utf16, R1/binary>> -> {C1, R1}; _ -> no end, case B of <<C2/utf32, R2/binary>> -> {C2, R2}; _ -> no end, case B of <<_/utf8, R3/binary>> -> R3; _ -> no end, case B of <<C4/utf16-little, R4/binary>> -> {C4, R4}; _ -> no end}) || B <- [<<>>, <<128>>, <<193, 128>>, <<195>>, <<195, 40>>, <<224, 128, 128>>, <<237, 160, 128>>, <<244, 144, 128, 128>>, <<240, 157, 132, 158>>, <<216, 52, 221, 30>>, <<216, 52>>, <<221, 30, 216, 52>>, <<0, 17, 0, 0>>, <<0, 0, 216, 0>>, <<248, 136, 128, 128, 128>>]].
