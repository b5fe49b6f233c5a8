%% The same with two arguments.
-module(badargs2).
-export([main/0]).
main() ->
    Vs = [a, 0, 2, -1, 1.5, "xy", [], <<"bc">>, {p, q}, #{a => 1}, 1 bsl 70],
    Fs = ['+', '-', '*', '/', 'div', 'rem', 'band', 'bor', 'bxor', 'bsl', 'bsr', '++', '--', 'and', 'or', 'xor', element, is_map_key, map_get, split_binary, integer_to_list, list_to_integer, binary_to_integer, integer_to_binary, append_element, delete_element, is_function, crc32, max, min],
    [t:p(F, [case t:c(fun() -> erlang:F(A, B) end) of {error, R} -> R; X when is_integer(X), abs(X) > 1 bsl 3000 -> huge; X -> X end || A <- Vs, B <- Vs, not (F =:= 'bsl' andalso B =:= 1 bsl 70)]) || F <- Fs].
