%% Maps above 32 keys: growth, shrinking, order, equality, updates.
-module(map_large).
-export([main/0]).
main() ->
    [begin
         M = maps:from_list([{I, I * I} || I <- lists:seq(1, N)]),
         t:p(N, {map_size(M), lists:sum(maps:values(M)), lists:sort(maps:keys(M)) =:= lists:seq(1, N), maps:get(N, M), maps:find(N + 1, M)})
     end || N <- [1, 31, 32, 33, 34, 64, 100, 1000, 20000]],
    Big = maps:from_list([{{k, I}, integer_to_list(I)} || I <- lists:seq(1, 500)]),
    Shuffled = maps:from_list(lists:reverse([{{k, I}, integer_to_list(I)} || I <- lists:seq(1, 500)])),
    t:p(Big =:= Shuffled), t:p(maps:keys(Big) =:= maps:keys(Shuffled)),
    t:p(erlang:phash2(Big) =:= erlang:phash2(Shuffled)),
    Down = lists:foldl(fun(I, M) -> maps:remove({k, I}, M) end, Big, lists:seq(11, 500)),
    t:p(Down), t:p(Down =:= maps:from_list([{{k, I}, integer_to_list(I)} || I <- lists:seq(1, 10)])),
    M33 = maps:from_list([{I, a} || I <- lists:seq(1, 33)]),
    t:p(maps:remove(33, M33) =:= maps:from_list([{I, a} || I <- lists:seq(1, 32)])),
    t:p({M33 < M33#{1 := b}, M33 > M33#{1 := 0}, M33#{34 => a} > M33, M33 == M33#{5 := a}}),
    #{7 := X, 33 := Y} = M33, t:p({X, Y}),
    t:pc(fun() -> M33#{99 := 1} end),
    t:pc(fun() -> #{99 := Q} = t:id(M33), Q end),
    t:p(lists:sort(maps:to_list(M33#{100 => z, 1 := y}))),
    t:p(maps:fold(fun(K, V, S) -> S + K + V end, 0, maps:from_list([{I, 2 * I} || I <- lists:seq(1, 300)]))),
    Mixed = maps:from_list([{K, 1} || I <- lists:seq(1, 20), K <- [I, I * 1.0, {I}, [I], integer_to_binary(I)]]),
    t:p({map_size(Mixed), maps:get(3, Mixed), maps:get(3.0, Mixed), maps:is_key({21}, Mixed)}).
