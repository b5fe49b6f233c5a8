%% since 28
%% zstd: what it compresses to, streams, parameters, dictionaries, frames, and everything wrong.
-module(since28_zstd).
-export([main/0]).

main() ->
    whole(),
    streams(),
    parameters(),
    dictionaries(),
    frames(),
    contexts(),
    damaged().

data() ->
    [{empty, <<>>}, {empty_list, []}, {byte, <<"a">>}, {list, ["abc", <<"def">>, $g]}, {zeros, <<0:(8 * 1000000)>>},
     {text, lists:duplicate(5000, "some words and some more words\n")}, {numbers, numbers(200000)},
     {many, [[<<N:16>> || N <- lists:seq(1, 1000)], numbers(70000)]}].

numbers(N) -> iolist_to_binary([<<(X * X rem 65521):16>> || X <- lists:seq(1, N div 2)]).

digest(Iolist) -> {iolist_size(Iolist), binary:encode_hex(erlang:md5(Iolist))}.

whole() ->
    [begin
         C = zstd:compress(D, O),
         D2 = zstd:decompress(C),
         t:p({Name, O, length(C), digest(C), iolist_to_binary(D2) =:= iolist_to_binary(D), [byte_size(B) || B <- D2]})
     end || {Name, D} <- data(), O <- [#{}, #{compressionLevel => 19, checksumFlag => true}, #{compressionLevel => -5}]],
    t:p(iolist_to_binary(zstd:decompress([zstd:compress("one "), zstd:compress("two")]))).

streams() ->
    {ok, C} = zstd:context(compress),
    {ok, D} = zstd:context(decompress, #{windowLogMax => 22}),
    Parts = [zstd:stream(C, "abc"), zstd:stream(C, [<<"d">>, "ef"]), zstd:flush(C), zstd:stream(C, numbers(300000)),
             zstd:stream(C, <<>>), zstd:finish(C, "end")],
    [t:p({element(1, P), tuple_size(P), digest(element(tuple_size(P), P))}) || P <- Parts],
    All = iolist_to_binary([element(tuple_size(P), P) || P <- Parts]),
    t:p(digest(All)),
    Out = [zstd:stream(D, B) || B <- pieces(All, 50000)],
    [t:p({element(1, P), tuple_size(P), iolist_size(element(tuple_size(P), P))}) || P <- Out],
    t:pc(fun() -> zstd:finish(D, <<>>) end),
    t:p({again, zstd:reset(D), zstd:reset(C)}),
    t:p(zstd:finish(C, "b")),
    t:p(zstd:decompress(iolist_to_binary(element(2, zstd:finish(C, "b"))))),
    t:p({through_context, zstd:decompress(zstd:compress("xyz", C), D)}),
    t:p({close, zstd:close(C), t:c(fun() -> zstd:stream(C, "x") end), t:c(fun() -> zstd:close(C) end), zstd:close(D)}).

pieces(B, N) when byte_size(B) =< N -> [B];
pieces(B, N) -> <<P:N/binary, R/binary>> = B, [P | pieces(R, N)].

parameters() ->
    {ok, C} = zstd:context(compress),
    Keys = [compressionLevel, windowLog, hashLog, chainLog, searchLog, minMatch, targetLength, strategy, targetCBlockSize,
            enableLongDistanceMatching, ldmHashLog, ldmMinMatch, ldmBucketSizeLog, ldmHashRateLog, contentSizeFlag, checksumFlag,
            dictIDFlag, dictionary, pledgedSrcSize, nothing, 1],
    [t:pc({get, K}, fun() -> zstd:get_parameter(C, K) end) || K <- Keys],
    [t:pc({set, K, V}, fun() -> {zstd:set_parameter(C, K, V), zstd:get_parameter(C, K)} end)
     || K <- Keys, K =/= dictionary, V <- [0, 3, 12, -3, 1000, 1 bsl 40, true, false, btlazy2, default, "x"]],
    {ok, D} = zstd:context(decompress),
    [t:pc({decompress, K, V}, fun() -> {zstd:set_parameter(D, K, V), zstd:get_parameter(D, K)} end)
     || {K, V} <- [{windowLogMax, 20}, {windowLogMax, 0}, {windowLogMax, 100}, {windowLogMax, x}, {other, 1}, {other, x}]],
    [t:pc({options, O}, fun() -> zstd:compress("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", O) end)
     || O <- [#{strategy => btultra2}, #{contentSizeFlag => false}, #{checksumFlag => true}, #{windowLog => 10, hashLog => 8},
              #{bad => 1}, #{strategy => bad}, [], x]],
    {ok, P} = zstd:context(compress, #{pledgedSrcSize => 5}),
    t:pc(pledged_too_much, fun() -> zstd:stream(P, "ab"), zstd:finish(P, "c") end),
    t:pc(fun() -> zstd:set_parameter(C, pledgedSrcSize, -1) end),
    t:pc(in_a_stream, fun() -> zstd:stream(C, "abc"), zstd:set_parameter(C, dictionary, "abc") end),
    t:pc(fun() -> zstd:context(other) end),
    t:pc(fun() -> zstd:set_parameter(x, y, z) end).

dictionaries() ->
    Content = iolist_to_binary(lists:duplicate(20, "words that come again, ")),
    {ok, CD} = zstd:dict(compress, Content),
    {ok, CD2} = zstd:dict(compress, Content, #{compressionLevel => 19}),
    {ok, DD} = zstd:dict(decompress, Content),
    Text = "words that come and go, words that come again",
    [begin
         C = zstd:compress(Text, #{dictionary => Dict, dictIDFlag => false}),
         t:p({digest(C), zstd:get_dict_id(iolist_to_binary(C))}),
         [t:pc({decompress, With =:= DD}, fun() -> zstd:decompress(C, #{dictionary => With}) end) || With <- [DD, Content, <<>>]],
         t:pc(no_dictionary, fun() -> zstd:decompress(C) end)
     end || Dict <- [CD, CD2, Content, <<>>]],
    t:p([zstd:get_dict_id(X) || X <- [CD, CD2, DD, Content, <<>>, zstd:compress("abc")]]),
    [t:pc({dict, M, X}, fun() -> zstd:dict(M, X) end) || {M, X} <- [{compress, x}, {compress, ["a"]}, {decompress, x}, {other, <<>>}]],
    t:pc(level, fun() -> zstd:dict(compress, Content, #{compressionLevel => x}) end),
    t:pc(wrong_kind, fun() -> zstd:compress("x", #{dictionary => DD}) end),
    t:pc(wrong_kind, fun() -> zstd:decompress(zstd:compress("x"), #{dictionary => CD}) end),
    t:pc(magic, fun() -> {ok, {cdict, _}} = zstd:dict(compress, <<16#ec30a437:32/little, 1:32, 0, 0, 0, 0>>), made end),
    t:pc(get_id, fun() -> zstd:get_dict_id(x) end).

frames() ->
    [t:pc({frame, N}, fun() -> zstd:get_frame_header(F) end)
     || {N, F} <- [{small, zstd:compress("abc")}, {flags, zstd:compress("abc", #{contentSizeFlag => false, checksumFlag => true})},
                   {large, zstd:compress(numbers(300000))}, {skippable, <<16#184d2a50:32/little, 3:32/little, "abc">>},
                   {text, "no frame"}, {bad, x}]].

contexts() ->
    {ok, C} = zstd:context(compress),
    Self = self(),
    spawn(fun() -> Self ! {from_other, [t:c(fun() -> F(C) end) || F <- [fun(X) -> zstd:stream(X, "a") end, fun zstd:reset/1, fun zstd:close/1]]} end),
    receive {from_other, R} -> t:p(R) end,
    {compress, Ref} = C,
    t:pc(fun() -> zstd:stream({decompress, Ref}, <<"a">>) end),
    t:pc(fun() -> zstd:stream({compress, make_ref()}, <<"a">>) end),
    t:pc(fun() -> zstd:stream(C, a) end),
    t:pc(fun() -> zstd:stream(C, <<1:3>>) end),
    t:pc(fun() -> zstd:compress(a) end).

damaged() ->
    Good = iolist_to_binary(zstd:compress(numbers(1000), #{checksumFlag => true})),
    [t:pc({cut, N}, fun() -> digest(zstd:decompress(binary:part(Good, 0, N))) end) || N <- [1, 4, 8, 100, byte_size(Good) - 1]],
    [t:pc({changed, N}, fun() -> digest(zstd:decompress(change(Good, N))) end) || N <- [0, 4, 5, 6, 20, 300, byte_size(Good) - 1]],
    t:pc(tail, fun() -> digest(zstd:decompress([Good, "tail"])) end).

change(B, N) -> <<A:N/binary, X, R/binary>> = B, <<A/binary, (X bxor 16#55), R/binary>>.
