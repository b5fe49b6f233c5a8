%% Boolean operators with what is no boolean.
-module(mx_logic).
-export([main/0]).
main() ->
    Bs = [true, false, a, 1, "", undefined],
    m:fs(erlang, ['and', 'or', 'xor'], [Bs, Bs]),
    m:f(erlang, 'not', [Bs]),
    m:fs(erlang, [is_atom, is_binary, is_bitstring, is_boolean, is_function, is_list, is_map, is_pid, is_port, is_reference, is_tuple], [m:any()]).
