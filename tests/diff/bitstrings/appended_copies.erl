%% Copies of binaries that were made by appending: messages, rows and dictionaries of others hold the bytes alone
%% without the room for later appends, and the original goes on as before.
-module(appended_copies).
-export([main/0]).

main() ->
    Sizes = [1, 5, 63, 64, 65, 66, 100, 248, 256, 257, 400, 1000, 40_000, 65_536, 100_000],
    [t:p({N, checked(N)}) || N <- Sizes],
    t:p({prefixes, prefixes()}),
    t:p({bits, bits()}),
    t:p({matched, matched()}),
    t:p({goes_on, goes_on(<<>>, 300, [])}),
    t:p({shared, shared()}),
    t:p({room, [{N, room(N)} || N <- [5, 65, 100]]}).

appended(N) -> appended(<<>>, N).
appended(B, 0) -> B;
appended(B, N) -> appended(<<B/binary, N>>, N - 1).

%% What a row, a message and a message back hold of it
checked(N) ->
    B = appended(N),
    T = ets:new(t, []),
    ets:insert(T, [{1, B}, {2, [B, {B}]}, {3, #{B => B}}]),
    [{_, Row}] = ets:lookup(T, 1),
    [{_, [L, {L}]}] = ets:lookup(T, 2),
    [{_, Map}] = ets:lookup(T, 3),
    [{K, V}] = maps:to_list(Map),
    Sent = echoed(B),
    More = <<B/binary, 0>>,
    garbage_collect(),
    All = [Row, L, K, V, Sent, echoed(Row)],
    {lists:all(fun(C) -> C =:= B end, All), lists:usort([spare(C) || C <- All]), byte_size(echoed(More)),
     erlang:crc32(B)}.

%% OTP 27 counts the bits of a binary on the heap.
spare(B) when byte_size(B) =< 64 -> 0;
spare(B) -> binary:referenced_byte_size(B) - byte_size(B).

echoed(B) ->
    Self = self(),
    spawn(fun() -> Self ! {back, B} end),
    receive {back, C} -> C end.

%% Earlier values keep their bytes while later ones are sent in between.
prefixes() ->
    {Bs, _} = lists:mapfoldl(fun(I, B) -> C = <<B/binary, I:32>>, [echoed(C) || I rem 7 =:= 0], {C, C} end,
        <<>>, lists:seq(1, 100)),
    Back = [echoed(B) || B <- Bs],
    {Back =:= Bs, lists:sum([binary:last(B) || B <- Back])}.

bits() ->
    B = lists:foldl(fun(I, A) -> <<A/bitstring, I:5>> end, <<>>, lists:seq(1, 200)),
    <<_:8, Middle:40/bitstring, Odd:13/bitstring, _/bitstring>> = B,
    <<First:64/bitstring, _/bitstring>> = B,
    [echoed(X) =:= X || X <- [B, Middle, Odd, First, <<B/bitstring, 1:1>>]].

%% A match context that points into the bytes while they are copied
matched() ->
    [match(appended(N), T, 0) || N <- [10, 70, 300], T <- [ets:new(t, [])]].
match(<<X, Rest/binary>> = All, T, Sum) ->
    ets:insert(T, {X, All, Rest}),
    garbage_sometimes(X),
    match(Rest, T, Sum + X);
match(<<>>, T, Sum) ->
    {Sum, ets:foldl(fun({_, A, R}, S) -> byte_size(A) - byte_size(R) + S end, 0, T)}.

garbage_sometimes(X) when X rem 17 =:= 0 -> garbage_collect();
garbage_sometimes(_) -> ok.

goes_on(B, 0, Sent) -> {byte_size(B), erlang:md5(B), erlang:md5(lists:reverse(Sent))};
goes_on(B, N, Sent) ->
    C = <<B/binary, N:16>>,
    goes_on(C, N - 1, [echoed(C) || N rem 10 =:= 0] ++ Sent).

%% One storage for many copies
shared() ->
    B = appended(4000),
    Self = self(),
    Ps = [spawn(fun() -> receive stop -> Self ! {self(), B} end end) || _ <- lists:seq(1, 100)],
    garbage_collect(),
    {_, Bs} = process_info(hd(Ps), binary),
    {_, Own} = process_info(self(), binary),
    Same = [A || {A, 4000, _} <- Bs, {O, 4000, Count} <- Own, A =:= O, Count > 100],
    [begin P ! stop, receive {P, B} -> ok end end || P <- Ps],
    length(Same).

%% Whether each of many rows takes less than what an appended binary reserves
room(N) ->
    T = ets:new(t, []),
    Rows = 20_000,
    Before = memory(T),
    [ets:insert(T, {I, appended(N)}) || I <- lists:seq(1, Rows)],
    garbage_collect(),
    (memory(T) - Before) / Rows < 256 + 64.

memory(T) -> erlang:memory(binary) + ets:info(T, memory) * erlang:system_info(wordsize).
