%% Ordered sets with keys of every kind: what is found by a key, before and behind it, and between those
%% that a partly bound key may match, must be what a sorted list of the keys says, and the same everywhere.
-module(ordered_set_keys).
-export([main/0]).

main() ->
    rand:seed(exsss, {3, 1, 4}),
    io:format("~p~n", [[{Kind, run(Kind)} || Kind <- kinds()]]),
    steps(),
    halt().

kinds() ->
    [small, numbers, floats, atoms, texts, bit_strings, pairs, nested, maps, anything].

key(small) -> rand:uniform(2000) - 1000;
key(numbers) ->
    N = (1 bsl rand:uniform(200)) + rand:uniform(3) - 2,
    case rand:uniform(4) of
        1 -> -N;
        2 -> N;
        3 -> float(N);
        4 -> -float(N)
    end;
key(floats) ->
    F = (rand:uniform(100) - 50) / rand:uniform(20) * one_of([1.0, 0.1, 1.0e-20, 1.0e200]),
    <<Bits:64>> = <<F/float>>,
    <<Near/float>> = <<(max(0, Bits + rand:uniform(3) - 2)):64>>,
    Near;
key(atoms) -> list_to_atom(name());
key(texts) -> one_of([name(), list_to_binary(name())]);
key(bit_strings) ->
    Size = rand:uniform(100) - 1,
    <<B:Size/bitstring, _/bitstring>> = << <<(one_of([0, 0, 1, 128])):8>> || _ <- lists:seq(1, 13) >>,
    B;
key(pairs) -> {key(one_of([small, atoms])), key(one_of([small, texts, floats]))};
key(nested) -> {one_of([user, session_of_some_user]), {key(small), [key(small) | key(texts)]}, key(atoms)};
key(maps) -> maps:from_list([{key(small), key(atoms)} || _ <- lists:seq(1, rand:uniform(3) - 1)]);
key(anything) -> key(one_of(kinds() -- [anything])).

name() -> [one_of("aab\0") || _ <- lists:seq(1, rand:uniform(20) - 1)].

one_of(List) -> lists:nth(rand:uniform(length(List)), List).

%% 3,000 changes and what is there after each hundred.
run(Kind) ->
    T = ets:new(t, [ordered_set]),
    Digest = changes(Kind, T, 3000, []),
    ets:delete(T),
    Digest.

changes(_, _, 0, Digest) -> erlang:phash2(Digest);
changes(Kind, T, N, Digest) ->
    Key = key(Kind),
    Grows = N rem 1000 > 400,
    Change = case rand:uniform(10) of
                 R when R > 3, Grows; R > 7 -> ets:insert(T, {Key, N});
                 R when R > 2 -> take_one(T, Key);
                 _ -> ets:take(T, Key)
             end,
    Seen = case N rem 100 of
               0 -> look(T, key(Kind));
               _ -> none
           end,
    changes(Kind, T, N - 1, [erlang:phash2({Change, Seen}) | Digest]).

take_one(T, Key) ->
    case ets:next(T, Key) of
        '$end_of_table' -> ets:take(T, Key);
        Next -> ets:take(T, Next)
    end.

look(T, Key) ->
    All = ets:tab2list(T),
    Keys = [K || {K, _} <- All],
    true = is_sorted(Keys),
    Keys = walk(T, ets:first(T), next),
    Back = lists:reverse(Keys),
    Back = walk(T, ets:last(T), prev),
    Here = [K || K <- Keys, K == Key],
    Here = [K || {K, _} <- ets:lookup(T, Key)],
    true = (Here =/= []) =:= ets:member(T, Key),
    Behind = head([K || K <- Keys, K > Key]),
    Behind = ets:next(T, Key),
    Before = head([K || K <- Back, K < Key]),
    Before = ets:prev(T, Key),
    Parts = [part(T, Keys, P) || P <- parts(Key)],
    Few = case ets:select(T, [{{'$1', '_'}, [], ['$1']}], 7) of
              {Found, More} -> {Found, rest(ets:select(More))};
              End -> End
          end,
    {Here, Behind, Before, Parts, Few, All}.

rest({Found, _}) -> Found;
rest(End) -> End.

%% Equal numbers have one place: 1 and 1.0 never meet.
is_sorted([A, B | Rest]) -> A < B andalso is_sorted([B | Rest]);
is_sorted(_) -> true.

head([K | _]) -> K;
head([]) -> '$end_of_table'.

walk(_, '$end_of_table', _) -> [];
walk(T, Key, Step) -> [Key | walk(T, ets:Step(T, Key), Step)].

%% Keys in whose place a variable stands.
parts({A, B}) -> [{A, '_'}, {'_', B}];
parts({A, {B, [C | _]}, _}) -> [{A, '_', '_'}, {A, {B, '_'}, '_'}, {A, {B, [C | '_']}, '_'}];
parts([A, B | _]) -> [[A | '_'], [A, B | '_']];
parts(_) -> [].

part(T, Keys, Pattern) ->
    Found = ets:select(T, [{{Pattern, '_'}, [], ['$_']}]),
    Reversed = ets:select_reverse(T, [{{Pattern, '_'}, [], ['$_']}]),
    Reversed = lists:reverse(Found),
    Wanted = [K || K <- Keys, matches(Pattern, K)],
    Wanted = [K || {K, _} <- Found],
    Count = ets:select_count(T, [{{Pattern, '_'}, [], [true]}]),
    Count = length(Found),
    Found.

matches('_', _) -> true;
matches(P, K) when is_tuple(P), tuple_size(P) =:= tuple_size(K) -> matches(tuple_to_list(P), tuple_to_list(K));
matches([P | Ps], [K | Ks]) -> matches(P, K) andalso matches(Ps, Ks);
matches(P, K) -> P =:= K.

%% Steps in two tables in turn, while keys come and go behind and before.
steps() ->
    [A, B] = [ets:new(t, [ordered_set, public]) || _ <- [1, 2]],
    [ets:insert(A, {{k, I}}) || I <- lists:seq(1, 500)],
    [ets:insert(B, {I}) || I <- lists:seq(1, 700, 2)],
    io:format("~p~n", [erlang:phash2(both(A, ets:first(A), B, ets:last(B), 1))]).

both(_, '$end_of_table', _, Y, _) -> [Y];
both(_, X, _, '$end_of_table', _) -> [X];
both(A, X, B, Y, N) ->
    {k, I} = X,
    ets:delete(A, {k, I - 3}),
    ets:delete(A, {k, I + 2}),
    ets:insert(A, {{k, I - 1.5}}),
    N rem 7 =:= 0 andalso ets:delete(B, Y),
    N rem 5 =:= 0 andalso ets:insert(B, {Y - 0.5}),
    [X, Y | both(A, ets:next(A, X), B, ets:prev(B, Y), N + 1)].
