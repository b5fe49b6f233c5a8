%% Natives on lists.
-module(mx_list_bifs).
-export([main/0]).
main() ->
    m:fs(erlang, [hd, tl, length, list_to_binary, list_to_bitstring, iolist_size, iolist_to_binary, iolist_to_iovec, list_to_tuple], [m:lists() ++ m:bins()]),
    m:fs(erlang, ['++', '--', append, subtract], [m:lists(), m:lists()]),
    m:fs(lists, [member], [[a, b, 1, 1.0, []], m:lists()]),
    m:fs(lists, [reverse], [m:lists(), [[], [z], z, {z}]]),
    m:fs(lists, [reverse, append, flatten, flatlength, sum, max, min, last, droplast, unzip, unzip3, usort, sort, concat], [m:lists()]).
