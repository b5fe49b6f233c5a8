%% Atoms, lists and binaries made of each other, existing or not, in each encoding.
-module(mx_erl_texts).
-export([main/0]).
main() ->
    m:fs(erlang, [atom_to_list, atom_to_binary], [m:atoms()]),
    m:f(erlang, atom_to_binary, [m:atoms(), [utf8, latin1, unicode, bad]]),
    m:fs(erlang, [list_to_atom, list_to_existing_atom, list_to_binary, list_to_bitstring, iolist_to_binary, iolist_size, iolist_to_iovec], [["", "abc", [16#6F22], [256], [a], [[1, 2], <<3>>], [1 | <<2>>], [<<1:1>>], a, <<"bin">>, [1 | 2], [-1]]]),
    m:f(erlang, binary_to_atom, [m:bins(), [utf8, latin1, bad]]),
    m:f(erlang, binary_to_existing_atom, [[<<"ok">>, <<"no such atom at all">>, <<255>>, a], [utf8, latin1]]),
    m:fs(erlang, [binary_to_list, bitstring_to_list, byte_size, bit_size, is_binary, is_bitstring], [m:bins()]),
    m:f(erlang, binary_to_list, [m:bins(), [0, 1, 2, 9], [1, 3, a]]),
    m:f(erlang, split_binary, [m:bins(), [0, 1, 3, 9, -1, a]]),
    m:f(erlang, binary_part, [m:bins(), [0, 1, 3], [0, 1, -1, 9]]),
    m:fs(erlang, [list_to_pid, list_to_ref, list_to_port], [["<0.1.0>", "<0.1>", "", "#Ref<0.1.1.3>", "#Port<0.1>", "#Ref<0>", [a], a]]).
