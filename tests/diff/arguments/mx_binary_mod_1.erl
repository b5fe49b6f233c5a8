%% The module binary: one place in a binary.
-module(mx_binary_mod_1).
-export([main/0]).
main() ->
    Is = [0, 1, 2, 3, -1, a, 1 bsl 64],
    m:f(binary, at, [m:bins(), Is]), m:fs(binary, [first, last, bin_to_list, list_to_bin, copy, referenced_byte_size, encode_hex, decode_hex], [m:bins()]),
    m:f(binary, copy, [m:bins(), [0, 1, 3, -1, a, 1 bsl 64]]),
    m:f(binary, part, [m:bins(), Is, [0, 1, -1, 3, a]]), m:f(binary, bin_to_list, [m:bins(), Is, [0, 1, -1, 3, a]]),
    m:f(binary, part, [m:bins(), [{0, 1}, {1, -1}, {9, 9}, a]]), m:f(binary, bin_to_list, [m:bins(), [{0, 1}, {1, -1}, {9, 9}, a]]).
