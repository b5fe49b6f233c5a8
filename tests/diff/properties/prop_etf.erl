%% Random terms through the external term format, and their hashes.
-module(prop_etf).
-export([main/0]).
main() ->
    g:seed(6),
    Ts = g:times(1500, fun(_) -> g:term(3) end),
    g:digest("bytes", [erlang:md5(term_to_binary(T)) || T <- Ts]),
    g:digest("phash2", [erlang:phash2(T) || T <- Ts]),
    g:digest("phash", [erlang:phash(T, 1 bsl 32) || T <- Ts]),
    g:digest("sizes", [{erlang:external_size(T), erts_debug:flat_size(T)} || T <- Ts]),
    [roundtrip(T, O) || T <- Ts, O <- [[], [compressed], [{minor_version, 1}], [{compressed, 1}]]],
    [cut(T) || T <- lists:sublist(Ts, 100)],
    t:p(done).

roundtrip(T, Opts) ->
    B = term_to_binary(T, Opts),
    T1 = binary_to_term(B),
    true = T1 =:= T,
    {T2, N} = binary_to_term(<<B/binary, "more">>, [used]),
    true = T2 =:= T,
    N = byte_size(B),
    true = iolist_to_binary(term_to_iovec(T, Opts)) =:= B,
    T = binary_to_term(B, [safe]).

%% Every shorter text is an error.
cut(T) ->
    B = term_to_binary(T),
    [{error, badarg} = t:c(fun() -> binary_to_term(binary:part(B, 0, N)) end) || N <- lists:seq(0, byte_size(B) - 1)].
