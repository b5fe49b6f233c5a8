%% Natives on binaries in erlang.
-module(mx_binary_bifs).
-export([main/0]).
main() ->
    m:fs(erlang, [byte_size, bit_size, binary_to_list, bitstring_to_list, size, list_to_binary, crc32, adler32, md5, binary_to_term], [m:bins()]),
    m:f(erlang, binary_to_list, [m:bins(), [0, 1, 2, 3, 4, a], [1, 2, 3, 4, a]]),
    m:f(erlang, split_binary, [m:bins(), [0, 1, 3, 4, -1, a, 1 bsl 64]]),
    m:f(erlang, binary_part, [m:bins(), [0, 1, 3, -1, a], [0, 1, 3, -1, -3, a]]),
    m:f(erlang, binary_part, [m:bins(), [{0, 0}, {1, 1}, {3, -2}, {0, 9}, {a, 1}, {0}, a]]),
    m:f(erlang, crc32, [[0, 1, -1, 1 bsl 32, a], m:bins()]), m:f(erlang, adler32, [[0, 1, 65520, -1, a], m:bins()]),
    m:f(erlang, crc32_combine, [[0, 5, -1, a], [0, 9, 1 bsl 32], [3, 1000, -1, a]]),
    m:f(erlang, adler32_combine, [[0, 5, -1, a], [0, 9, 1 bsl 32], [3, 1000, -1, a]]),
    t:p([m:outcome(erlang, md5_final, [case m:outcome(erlang, md5_update, [erlang:md5_init(), B]) of X when is_binary(X) -> X; _ -> B end]) || B <- m:bins()]), t:p([m:outcome(erlang, md5_update, [X, <<>>]) || X <- [a, <<1>>, "x"]]).
