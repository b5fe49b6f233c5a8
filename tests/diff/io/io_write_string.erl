%% Strings and characters as source text.
-module(io_write_string).
-export([main/0]).
main() -> Ss = ["", "abc", "é", "漢", "\n\t\r\e\b\f\v\d\0\s", "\"\\'", [16#1F600], [16#10FFFF], [127, 128, 159, 160, 255, 256]], [t:p([lists:flatten(io_lib:F(S)) || F <- [write_string, write_string_as_latin1, write_latin1_string]]) || S <- Ss, lists:max([0 | S]) < 256], [t:p(lists:flatten(io_lib:write_string(S))) || S <- Ss], t:p([lists:flatten(io_lib:write_char(C)) || C <- [$a, $\n, $\s, 0, 127, 200, 300]]), t:p([io_lib:F(X) || F <- [char_list, latin1_char_list, deep_char_list, deep_latin1_char_list, printable_list, printable_latin1_list, printable_unicode_list], X <- Ss ++ [a, [a], ["x", $y], [-1], "x" ++ y]]).
