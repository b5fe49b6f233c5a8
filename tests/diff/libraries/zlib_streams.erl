%% zlib: streams in pieces, flushes, dictionaries, windows, limits, errors, raw and gzip forms.
-module(zlib_streams).
-export([main/0]).
main() ->
    D = binary:copy(<<"hello zlib ">>, 500),
    [begin Z = zlib:open(), ok = zlib:deflateInit(Z, L, deflated, W, 8, S), C = iolist_to_binary([zlib:deflate(Z, binary:part(D, 0, 1000)), zlib:deflate(Z, binary:part(D, 1000, 500), Fl), zlib:deflate(Z, binary:part(D, 1500, byte_size(D) - 1500), finish)]), zlib:deflateEnd(Z), ok = zlib:inflateInit(Z, W), R = iolist_to_binary(zlib:inflate(Z, C)), zlib:inflateEnd(Z), zlib:close(Z),
    t:p({L, W, S, Fl}, {R =:= D, byte_size(C) < byte_size(D)}) end || L <- [default, best_speed, best_compression], {W, S} <- [{15, default}, {-15, filtered}, {31, huffman_only}, {9, rle}], Fl <- [none, sync, full]],
    t:p([zlib:F(zlib:G(D)) =:= D || {G, F} <- [{compress, uncompress}, {zip, unzip}, {gzip, gunzip}]]), [t:pc({F, X}, fun() -> zlib:F(X) end) || F <- [uncompress, unzip, gunzip], X <- [<<>>, <<"junk">>, binary:part(zlib:compress(D), 0, 10), a, [zlib:compress("x"), "tail"]]], Z = zlib:open(), [t:pc({F, A}, fun() -> apply(zlib, F, [Z | A]) end) || {F, A} <- [{deflate, ["x"]}, {inflate, ["x"]}, {deflateEnd, []}, {inflateEnd, []}, {deflateInit, [99]}, {deflateInit, [default, bad, 15, 8, default]}, {deflateInit, [default, deflated, 99, 8, default]}, {inflateInit, [99]}, {deflateInit, []}, {deflateInit, []}, {deflate, [bad]}, {deflate, ["a", bad]}, {deflateParams, [best_speed, default]}, {deflateReset, []}, {setBufsize, [10]}, {getBufsize, []}, {inflate, ["x"]}, {deflate, ["abc", finish]}, {deflate, ["more", finish]}, {deflateEnd, []}]], zlib:inflateInit(Z),
    t:pc(fun() -> zlib:inflate(Z, <<"garbage!">>) end),
    t:pc(fun() -> zlib:inflateEnd(Z) end), Dict = <<"hello zlib">>, zlib:deflateInit(Z), A = zlib:deflateSetDictionary(Z, Dict), C = zlib:deflate(Z, "hello zlib hello", finish), zlib:deflateEnd(Z),
    t:p(A), zlib:inflateInit(Z),
    t:pc(fun() -> zlib:inflate(Z, C) end),
    t:p(zlib:inflateSetDictionary(Z, Dict)),
    t:pc(fun() -> iolist_to_binary(zlib:inflate(Z, [])) end), zlib:inflateReset(Z),
    t:p(zlib:inflate(Z, zlib:compress("two"), [{exception_on_need_dict, false}])), zlib:inflateReset(Z), Big = zlib:compress(binary:copy(<<0>>, 300000)),
    t:p(t:c(fun() -> Sf = fun Sf({continue, O}, N) -> Sf(zlib:safeInflate(Z, []), N + iolist_size(O)); Sf({finished, O}, N) -> {finished, N + iolist_size(O)} end, Sf(zlib:safeInflate(Z, Big), 0) end)),
    t:pc(fun() -> zlib:inflateEnd(Z) end), S = self(),
    t:p(receive X -> X after 0 -> S =:= self() end), Q = spawn_monitor(fun() -> exit(t:c(fun() -> zlib:deflateInit(Z) end)) end),
    t:p(receive {'DOWN', M, _, _, R} when {element(1, Q), M} =:= Q -> R end), zlib:close(Z),
    t:pc(fun() -> zlib:close(Z) end),
    t:p([zlib:crc32(<<"x">>) || false]),
    t:p([erlang:crc32(zlib:gunzip(zlib:gzip(X))) =:= erlang:crc32(X) || X <- [<<>>, <<0>>, D]]).
