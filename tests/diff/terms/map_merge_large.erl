%% maps:merge/2 of large maps: keys in common, in neither, in one place of the tree; what is put in one by
%% one gives the same map.
-module(map_merge_large).
-export([main/0]).

main() ->
    Sizes = [0, 1, 32, 33, 40, 300, 5000],
    [t:p({N, M, At, merged(N, M, At)}) || N <- Sizes, M <- Sizes, At <- [0, N div 2, N]],
    mixed(),
    again(),
    [t:pc(fun() -> maps:merge(A, B) end) || {A, B} <- [{x, #{}}, {#{}, y}, {[], a}]],
    turns().

make(From, N, V) -> maps:from_list([{key(I), {V, I}} || I <- lists:seq(From, From + N - 1)]).
key(I) when I rem 5 =:= 0 -> {k, I};
key(I) when I rem 7 =:= 0 -> float(I);
key(I) when I rem 11 =:= 0 -> integer_to_binary(I);
key(I) -> I.

merged(N, M, At) ->
    A = make(1, N, a),
    B = make(At + 1, M, b),
    C = maps:merge(A, B),
    Put = maps:fold(fun(K, V, X) -> X#{K => V} end, A, B),
    Size = map_size(maps:from_list(maps:to_list(A) ++ maps:to_list(B))),
    [map_size(C) =:= Size, C =:= Put, lists:sort(maps:to_list(C)) =:= lists:sort(maps:to_list(Put)),
     map_size(C), erlang:phash2(C), length([b || {b, _} <- maps:values(C)])].

%% 1 and 1.0 are two keys.
mixed() ->
    A = maps:from_list([{I, int} || I <- lists:seq(1, 100)]),
    B = maps:from_list([{float(I), float} || I <- lists:seq(1, 100)]),
    C = maps:merge(A, B),
    t:p({map_size(C), map_get(1, C), map_get(1.0, C), C =:= maps:merge(B, A)}).

%% A merged map is one like any other.
again() ->
    A = make(1, 1000, a),
    B = make(500, 1000, b),
    C = maps:merge(A, B),
    t:p({C =:= maps:merge(C, B), C =:= maps:merge(A, C), maps:merge(A, A) =:= A, maps:merge(C, A) =:= C}),
    D = lists:foldl(fun(I, M) -> maps:remove(key(I), M) end, C, lists:seq(1, 1450)),
    t:p({map_size(D), lists:sort(maps:keys(D)) =:= lists:sort([key(I) || I <- lists:seq(1451, 1499)])}),
    t:p(binary_to_term(term_to_binary(C)) =:= C).

%% Others run in between, and collect.
turns() ->
    P = spawn_link(fun() -> loop(0) end),
    A = maps:from_list([{I, a} || I <- lists:seq(1, 200_000)]),
    B = maps:from_list([{I, b} || I <- lists:seq(100_001, 300_000)]),
    self() ! gc,
    C = maps:merge(A, B),
    erlang:garbage_collect(),
    t:p({map_size(C), map_get(1, C), map_get(150_000, C), map_get(300_000, C), erlang:phash2(C)}),
    unlink(P),
    exit(P, kill).
loop(N) -> receive stop -> N after 0 -> loop(N + 1) end.
