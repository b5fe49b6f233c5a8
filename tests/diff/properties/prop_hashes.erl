%% phash, phash2 in ranges, md5 in pieces, crc32 and adler32 combined, over random terms.
-module(prop_hashes).
-export([main/0]).
main() ->
    g:seed(19), g:digest(terms, g:times(2000, fun(_) -> T = g:term(3), {erlang:phash2(T), erlang:phash2(T, 1000), erlang:phash(T, 1 bsl 32), erlang:phash(T, 77), erlang:md5(term_to_binary(T, [{minor_version, 2}]))} end)), g:digest(sums, g:times(600, fun(_) -> A = g:bin(60), B = g:bin(60), {erlang:crc32(A), erlang:crc32(erlang:crc32(A), B), erlang:crc32_combine(erlang:crc32(A), erlang:crc32(B), byte_size(B)), erlang:adler32([A | B]), erlang:adler32(erlang:adler32(A), B), erlang:adler32_combine(erlang:adler32(A), erlang:adler32(B), byte_size(B)), erlang:md5_final(erlang:md5_update(erlang:md5_update(erlang:md5_init(), A), B)) =:= erlang:md5([A, B])} end)), g:digest(big, [{erlang:phash2(X), erlang:phash(X, 1 bsl 32)} || N <- lists:seq(1, 300), X <- [1 bsl N, -(1 bsl N), (1 bsl N) - 1, <<N:N>>, lists:duplicate(N, N), list_to_tuple(lists:seq(1, N)), maps:from_list([{I, N} || I <- lists:seq(1, N)]), float(N) * 1.1]]),
    m:f(erlang, phash2, [[a, 1], [0, 1, 2, 1 bsl 32, (1 bsl 32) + 1, -1, a, 1.0]]),
    m:f(erlang, phash, [[a, 1], [0, 1, 2, 1 bsl 32, (1 bsl 32) + 1, -1, a]]),
    m:fs(erlang, [crc32, adler32, md5], [["ab", <<1:1>>, a, [300], [<<1>>, [2 | <<3>>]], []]]),
    m:fs(erlang, [crc32_combine, adler32_combine], [[1, -1, a, 1 bsl 32], [2], [3, -1, 1 bsl 70]]),
    m:f(erlang, md5_update, [[<<>>, a], ["x", a]]),
    m:f(erlang, md5_final, [[erlang:md5_init(), <<1>>, a]]).
