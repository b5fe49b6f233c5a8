%% adler32_combine/3 and crc32_combine/3 of anything, also what is no checksum, and of length 0.
-module(checksum_combinations).
-export([main/0]).

main() ->
    Sums = [0, 1, 5, 65520, 65521, 65535, 65536, 16#ffffffff, 16#fff0fff0, 16#12345678],
    [t:p({A, B, N, erlang:adler32_combine(A, B, N), erlang:crc32_combine(A, B, N)})
     || A <- Sums, B <- Sums, N <- [0, 1, 65520, 65521, 16#ffffffff]],
    [t:pc(fun() -> apply(erlang, F, [A, B, N]) end)
     || F <- [adler32_combine, crc32_combine],
        {A, B, N} <- [{1, 2, -1}, {1, 2, 1 bsl 32}, {1 bsl 32, 1, 1}, {1, 1 bsl 32, 1}, {-1, 1, 1}, {a, b, c}]].
