%% Functions of io_lib on characters, strings, lists and terms of each kind.
-module(mx_io_lib_more).
-export([main/0]).
main() ->
    Ss = ["", "abc", "é", [16#6F22], [1], [300, a], "a\nb\t\"'\\", <<"bin">>, [$a | $b], a, [[$a], "b"], [-1], [16#10FFFF], [16#D800]],
    m:fs(io_lib, [write_string, write_string_as_latin1, write_latin1_string, printable_list, printable_latin1_list, printable_unicode_list, char_list, latin1_char_list, deep_char_list, deep_latin1_char_list, quote_atom, write_char, write_atom, write_atom_as_latin1, write_unicode_string], [Ss] ) ,
    m:fs(io_lib, [write_char, write_char_as_latin1, write_latin1_char], [[$a, 0, 10, 127, 160, 255, 256, 16#1F600, -1, a]]),
    m:fs(io_lib, [write_atom, write_atom_as_latin1], [m:atoms()]),
    m:fs(io_lib, [write, print, nl], [[a, 'B c', "s", <<1, 2>>, 1.0, #{a => b}, {x, [y | z]}]]),
    m:f(io_lib, indentation, [["abc", "a\nb", "\t"], [0, 5]]),
    m:fs(io_lib, [format, fwrite], [["~p", "~w~n", "~~", "~", "~z", "~s", "~5c", a, <<"~p">>], [[], [a], ["s"], [1, 2], x]]),
    m:f(io_lib, scan_format, [["~p", "~-10.3tw", "x~~", "~*.*.*p", "~"], [[a], [1, 2, 3, 4], []]]),
    m:f(io_lib, fread, [["~d", "~s ~d", "~f", "x", "~c"], ["12", "a 5", "1.5", "x", "", "zz"]]).
