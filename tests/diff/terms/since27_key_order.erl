%% since 27
%% The order of large maps' keys, which is that of a hash; where atoms, pids or references are in a key
%% it depends in OTP on what was loaded before.
-module(since27_key_order).
-export([main/0]).

main() ->
    erts_debug:set_internal_state(available_internal_state, true),
    t:p([erts_debug:get_internal_state({internal_hash, T}) || T <- samples()]),
    erts_debug:set_internal_state(available_internal_state, false),
    [orders(Name, keys(Name)) || Name <- names()],
    t:p([element(1, maps:next(maps:iterator(map([{N, []} || N <- lists:seq(1, Size)]))))
         || Size <- [32, 33, 34, 100, 1000, 20000]]),
    M = map(keys(ints)),
    t:p(M),
    io:format("~w~n~0p~n~s~n", [M, M, io_lib:format("~tp", [maps:with(lists:seq(1, 40), M)])]),
    t:p(erlang:map_size(maps:filter(fun(K, _) -> K rem 2 =:= 0 end, M))),
    t:p(maps:keys(maps:filter(fun(K, _) -> K rem 2 =:= 0 end, M))),
    tables().

samples() ->
    [0, 1, -1, 1 bsl 59 - 1, -(1 bsl 59), 1 bsl 59, -(1 bsl 59) - 1, 1 bsl 64, 1 bsl 128, -(1 bsl 130), [],
     1.0, -1.5, 0.0, -0.0, {}, {1}, {{}, 1}, {1, {}}, {{1}, {2}, {3}}, "", "a", "abcd", "abcde", "abcdefgh", [256], [1, 256],
     [256, 1], [[]], [[], []], [[1] | 2], [1 | 2], [{} | {}], [300, 400 | 500], <<>>, <<1>>, <<1:1>>, <<255:7>>,
     <<"12345678">>, <<"123456789">>, <<"1234567890abcdef">>, <<"1234567890abcdefg">>, <<"1234567890abcdef12345678x", 3:3>>,
     tail(<<5:3, "unaligned bytes of some length">>, 3), #{}, #{1 => 2}, #{1 => {2}, {3} => 4, "x" => <<"y">>},
     map(lists:seq(1, 33)), map([{N} || N <- lists:seq(1, 500)])].

tail(Bits, N) -> <<_:N, Rest/bits>> = Bits, Rest.

names() -> [ints, negative, big, binaries, bits, strings, lists, nested, floats, small_maps, large_maps, mixed, many].

keys(ints) -> lists:seq(1, 100);
keys(negative) -> [-X * 1234567 || X <- lists:seq(1, 60)];
keys(big) -> [(X bsl (60 + X)) * (1 - 2 * (X band 1)) || X <- lists:seq(1, 90)];
keys(binaries) -> [list_to_binary(lists:duplicate(X, $a + X rem 7)) || X <- lists:seq(0, 90)];
keys(bits) -> [tail(<<X:12, X:(X rem 31 + 1)>>, X rem 9) || X <- lists:seq(1, 70)];
keys(strings) -> ["key" ++ integer_to_list(X * X * X) || X <- lists:seq(1, 70)];
keys(lists) -> [[X, X + 300 | tl([x, X | X])] || X <- lists:seq(1, 70)];
keys(nested) -> [{X, {X + 1, [X], {}}, <<X>>, [[X, 1], 2.5]} || X <- lists:seq(1, 70)];
keys(floats) -> [X / 7 || X <- lists:seq(1, 70)];
keys(small_maps) -> [#{X => X + 1, {X} => [X], <<"k">> => X} || X <- lists:seq(1, 70)];
keys(large_maps) -> [map([{Y * X, {Y}} || Y <- lists:seq(1, 40)]) || X <- lists:seq(1, 50)];
keys(mixed) -> lists:append([lists:sublist(keys(K), 9) || K <- names(), K =/= mixed, K =/= many]);
keys(many) -> lists:seq(1, 10000, 3).

map(Keys) -> maps:from_list([{K, 0} || K <- Keys]).

%% However a map was made, and whatever lists it.
orders(Name, Keys) ->
    Half = length(Keys) div 2,
    Made = [map(Keys),
            lists:foldr(fun(K, M) -> M#{K => 0} end, #{}, Keys),
            maps:merge(map(lists:sublist(Keys, Half + 3)), map(lists:nthtail(Half, Keys))),
            maps:without([none, {none}], (map(Keys))#{none => 0, {none} => 0}),
            binary_to_term(term_to_binary(map(Keys))),
            maps:map(fun(_, V) -> V end, map(Keys)),
            maps:from_keys(lists:reverse(Keys), 0)],
    t:p({Name, lists:usort([erlang:phash2(listed(M)) || M <- Made])}),
    [M | _] = Made,
    [K1, K2, K3 | _] = maps:keys(M),
    t:p([K1, K2, K3]),
    t:p([erlang:phash2(L) || L <- listed(M)]),
    t:p({erlang:phash2(term_to_binary(M)), erlang:phash2(term_to_binary(M, [deterministic]))}),
    t:p(erlang:phash2([io_lib:format(F, [M]) || F <- ["~p", "~w", "~0p"]])).

listed(M) ->
    [maps:keys(M), [K || {K, _} <- maps:to_list(M)], [K || K := _ <- M],
     maps:fold(fun(K, _, Acc) -> [K | Acc] end, [], M), iterated(maps:iterator(M)), iterated(maps:iterator(M, undefined)),
     [K || {K, _} <- maps:to_list(maps:iterator(M))], maps:keys(maps:filter(fun(_, _) -> true end, M)),
     maps:values(maps:map(fun(K, _) -> K end, M))].

iterated(Iterator) ->
    case maps:next(Iterator) of
        {K, _, Next} -> [K | iterated(Next)];
        none -> []
    end.

%% Tables use the same hash.
tables() ->
    [begin
        T = ets:new(table, [Type]),
        ets:insert(T, [{K} || K <- keys(Name)]),
        t:p({Type, Name, erlang:phash2(ets:tab2list(T)), ets:first(T)}),
        ets:delete(T)
     end || Type <- [set, bag], Name <- [ints, binaries, strings, nested, big]].
