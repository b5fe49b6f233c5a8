%% What many BIFs answer to arguments they cannot take.
-module(badargs).
-export([main/0]).
main() ->
    Bad = [a, 1, -1, 1.5, "x", [], <<"b">>, <<1:1>>, {}, #{}, 1 bsl 70, [a | b], self(), make_ref()],
    Fs = [abs, atom_to_binary, atom_to_list, binary_to_atom, binary_to_float, binary_to_integer, binary_to_list, binary_to_term, bit_size, bitstring_to_list, byte_size, ceil, float, float_to_binary, float_to_list, floor, hd, integer_to_binary, integer_to_list, iolist_size, iolist_to_binary, iolist_to_iovec, length, list_to_atom, list_to_binary, list_to_bitstring, list_to_existing_atom, list_to_float, list_to_integer, list_to_pid, list_to_port, list_to_ref, list_to_tuple, map_size, node, pid_to_list, round, size, tl, trunc, tuple_size, tuple_to_list, port_to_list, ref_to_list, fun_to_list, crc32, md5, unlink, demonitor, unregister, whereis, erase, throw],
    [t:p(F, [t:c(fun() -> shape(erlang:F(B)) end) || B <- Bad]) || F <- Fs, F =/= erase, not lists:member(F, [unlink])].
shape(X) when is_list(X), length(X) > 4 -> try list_to_binary(X) of <<"<0.", _/binary>> -> pid_text; <<"#Ref<", _/binary>> -> ref_text; _ -> X catch _:_ -> X end; shape(X) -> X.
