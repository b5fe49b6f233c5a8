%% The explanations of failing BIFs, as the shell prints them, one call after another.
-module(exc_bif_texts).
-export([main/0]).
main() -> [show(M, F, A) || {M, F, A} <- calls(), not ends_device(M, F)].

%% From OTP 28 on a wrong option ends the process of the standard device.
ends_device(io, setopts) -> erlang:system_info(otp_release) >= "28";
ends_device(_, _) -> false.

show(M, F, A) ->
    try apply(M, F, A) of
        V -> io:format("~w:~w/~w -> ~0tp~n", [M, F, length(A), t:plain(V)])
    catch C:R:S ->
        [{M1, F1, A1, I} | _] = S,
        Info = [X || X = {error_info, _} <- I],
        Text = lists:flatten(erl_error:format_exception(C, R, [{M1, F1, A1, Info}])),
        io:format("~ts~n", [re:replace(Text, "<[0-9.]+>", "<n>", [unicode, global])])
    end.

calls() ->
    more(self(), make_ref()).

more(P, Ref) ->
    [{erlang, F, A} || {F, A} <- [{binary_part, [<<1>>, 1, 1]}, {binary_to_atom, [<<255>>, utf8]}, {send, [a_name_nobody_has, 1]}, {send, [P, 1, [bad]]}, {send_after, [-1, P, x]}, {send_after, [1, 2, x]}, {setelement, [9, {a}, b]}, {setelement, [1, a, b]}, {size, [a]}, {spawn, [a]}, {spawn, [a, b, c]},
        {spawn_link, [1, b, []]}, {spawn_monitor, [a]}, {spawn_opt, [fun() -> ok end, [bad]]}, {split_binary, [<<1>>, 5]}, {start_timer, [a, P, x]}, {start_timer, [1, P, x, [bad]]}, {statistics, [bad]}, {subtract, [a, b]}, {suspend_process, [P]}, {system_flag, [bad, 1]},
        {system_info, [bad]}, {system_time, [bad]}, {term_to_binary, [a, [bad]]}, {term_to_iovec, [a, [bad]]}, {time_offset, [bad]}, {tl, [[]]}, {trunc, [a]}, {tuple_size, [a]}, {tuple_to_list, [a]}, {unalias, [a]}, {unique_integer, [[bad]]},
        {universaltime_to_localtime, [a]}, {unlink, [a]}, {unregister, [no_such_name]}, {unregister, [1]}, {whereis, [1]}, {'+', [a, 1]}, {'div', [1, 0]}, {'bsl', [1, a]}, {'not', [a]}, {'and', [true, a]}, {'++', [a, b]}, {'--', [a, b]}, {'!', [nobody_here, x]}, {apply, [a, b]}, {apply, [a, b, c]},
        {abs, [a]}, {atom_to_binary, [a, bad]}, {binary_to_float, [<<"x">>]}, {binary_to_integer, [<<"1x">>]}, {binary_to_integer, [<<"1">>, 99]}, {binary_to_list, [<<1, 2>>, 3, 1]}, {binary_to_term, [<<1>>]}, {binary_to_existing_atom, [<<"surely no such atom">>]}, {cancel_timer, [a]},
        {demonitor, [Ref, [x]]}, {element, [0, {a}]}, {exit, [a, b]}, {float_to_list, [1.0, [{decimals, 999}]]}, {fun_info, [a]}, {garbage_collect, [a]}, {group_leader, [P, a]}, {halt, [a]}, {insert_element, [9, {a}, b]}, {integer_to_list, [1, 99]}, {iolist_to_binary, [[a]]}, {is_function, [a, -1]},
        {is_map_key, [a, b]}, {link, [a]}, {list_to_atom, [lists:duplicate(256, $a)]}, {list_to_existing_atom, ["not seen before"]}, {list_to_integer, ["1", 1]}, {make_tuple, [2, a, [{9, b}]]}, {map_get, [a, #{}]}, {map_get, [a, b]}, {monitor, [bad, P]}, {monitor, [process, P, [bad]]},
        {phash2, [a, 0]}, {port_command, [a, b]}, {process_flag, [bad, 1]}, {process_flag, [trap_exit, 1]}, {process_info, [P, bad]}, {process_info, [a]}, {register, [a, b]}, {register, [init, P]}, {raise, [bad, a, b]}, {read_timer, [a]}, {decode_packet, [bad, <<>>, []]}]] ++
    [{lists, keyfind, [a, 0, []]}, {lists, keymember, [a, 1, b]}, {lists, member, [a, b]}, {lists, reverse, [a, b]}, {lists, reverse, [[a | b]]}, {lists, keysearch, [a, x, []]},
     {maps, get, [a, #{}]}, {maps, get, [a, b]}, {maps, from_list, [a]}, {maps, from_list, [[a]]}, {maps, from_keys, [a, b]}, {maps, put, [a, b, c]}, {maps, merge, [a, #{}]}, {maps, keys, [a]}, {maps, values, [a]}, {maps, remove, [a, b]}, {maps, update, [a, 1, #{}]}, {maps, update, [a, 1, b]}, {maps, take, [a, b]}, {maps, find, [a, b]}, {maps, is_key, [a, b]}, {maps, to_list, [a]}, {maps, next, [a]}, {maps, iterator, [a]}, {maps, fold, [a, b, #{}]}, {maps, map, [a, #{}]}, {maps, filter, [a, b]}, {maps, with, [a, b]}, {maps, without, [a, b]}, {maps, groups_from_list, [a, b]}, {maps, intersect, [a, b]},
     {math, sqrt, [-1]}, {math, log, [0]}, {math, sin, [a]}, {math, pow, [a, 1]}, {math, acos, [2]}, {math, exp, [10000]}, {math, fmod, [1, 0]}, {math, atan2, [a, b]},
     {binary, at, [<<1>>, 5]}, {binary, part, [<<1>>, 2, 3]}, {binary, match, [<<1>>, []]}, {binary, match, [<<1>>, <<>>]}, {binary, split, [<<1>>, <<2>>, [bad]]}, {binary, copy, [<<1>>, -1]}, {binary, decode_unsigned, [a]}, {binary, encode_unsigned, [-1]}, {binary, first, [<<>>]}, {binary, last, [a]}, {binary, list_to_bin, [[a]]}, {binary, longest_common_prefix, [[a]]}, {binary, compile_pattern, [a]}, {binary, replace, [<<1>>, <<1>>, a]}, {binary, bin_to_list, [<<1>>, 1, 5]}, {binary, decode_hex, [<<"x">>]}, {binary, encode_hex, [a]}, {binary, referenced_byte_size, [a]},
     {ets, lookup, [nope, a]}, {ets, insert, [nope, a]}, {ets, new, [a, [bad]]}, {ets, new, ["a", []]}, {ets, delete, [nope]}, {ets, update_counter, [nope, a, 1]}, {ets, info, [nope]}, {ets, match_spec_compile, [bad]}, {ets, select, [nope, []]}, {ets, rename, [nope, b]}, {ets, give_away, [nope, P, a]}, {ets, first, [nope]}, {ets, tab2list, [nope]}, {ets, lookup_element, [nope, a, 1]}, {ets, setopts, [nope, []]},
     {unicode, characters_to_binary, [[a]]}, {unicode, characters_to_list, [a]}, {unicode, characters_to_binary, [<<1>>, bad]}, {unicode, characters_to_nfc_list, [a]}, {unicode, bin_is_7bit, [a]},
     {re, run, ["a", "("]}, {re, run, ["a", "a", [bad]]}, {re, compile, [a]}, {re, compile, ["a", [bad]]}, {re, run, [a, "a"]}, {re, replace, ["a", "a", a]}, {re, split, [a, "b"]}, {re, inspect, [a, b]},
     {atomics, new, [0, []]}, {atomics, new, [1, [bad]]}, {atomics, get, [a, 1]}, {atomics, get, [atomics:new(1, []), 2]}, {counters, new, [0, []]}, {counters, get, [a, 1]},
     {persistent_term, get, [no_such_key]}, {os, getenv, [1]}, {os, putenv, ["a=b", "c"]}, {os, unsetenv, [1]}, {os, system_time, [bad]}, {io, format, ["~p"]}, {io, format, ["~p", [1, 2]]}, {io, format, ["~z", [1]]}, {io, put_chars, [a]}, {io, nl, [nobody]}, {io, format, [nobody, "x", []]}, {io, setopts, [bad]}, {io, put_chars, [nobody, "x"]}].
