%% Conversions to and from text with every kind of argument.
-module(mx_convert_1).
-export([main/0]).
main() ->
    m:fs(erlang, [atom_to_list, atom_to_binary, integer_to_list, integer_to_binary, float_to_list, float_to_binary, list_to_atom, list_to_integer, list_to_float, binary_to_integer, binary_to_float, binary_to_atom, list_to_existing_atom, binary_to_existing_atom, tuple_to_list, list_to_tuple], [m:any()]).
