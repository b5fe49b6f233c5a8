%% Grapheme clusters of every kind, and normal forms of many characters.
-module(unicode_graphemes).
-export([main/0]).
main() ->
    Ss = [[$e, 769], [16#1F468, 16#200D, 16#1F469, 16#200D, 16#1F467], [16#1F1E9, 16#1F1EA, 16#1F1EB, 16#1F1F7], "\r\n\n\r", [16#1100, 16#1161, 16#11A8, 16#AC00, 16#11A8], [16#1F44D, 16#1F3FD], [$a, 16#200D, $b], [16#0E01, 16#0E33], [16#0915, 16#094D, 16#0937], [$x, 16#FE0F, 16#20E3], [769, $a], [16#200B, $a], "ﬁ ﷺ ½ Å Ω", [16#1E9B, 16#323], "ÀÈÌ", [16#212B], [16#FB01]], [t:p(S, {string:to_graphemes(S), string:length(S), string:reverse(S), [length(unicode:F(S)) || F <- [characters_to_nfc_list, characters_to_nfd_list, characters_to_nfkc_list, characters_to_nfkd_list]], string:slice(S, 1, 1), string:next_grapheme(S), string:pad(S, 3, both, $-)}) || S <- Ss],
    t:p([string:equal(A, B, true, nfkc) || {A, B} <- [{"ﬁ", "FI"}, {[16#212B], "å"}, {"straße", "STRASSE"}, {"x", "y"}]]),
    t:p([string:casefold(S) || S <- ["ẞß", "İI", "ΣΑΣ", "ǅ", [16#1F80]]]),
    t:p([string:uppercase(S) || S <- ["ß", "ŉ", "ﬁ", "ǆ", "ΐ"]]),
    t:p([string:lowercase(S) || S <- ["İ", "ΑΣ", "Ǆ"]]),
    t:p([string:titlecase(S) || S <- ["ǆx", "ßa", "ﬁx", ""]]).
