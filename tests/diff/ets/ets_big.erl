%% Tables of many objects, growing and shrinking, all types.
-module(ets_big).
-export([main/0]).
main() ->
    [begin T = ets:new(t, [Ty, public]), N = 20000, [ets:insert(T, {{k, I}, I, [I]}) || I <- lists:seq(1, N)], Sum = ets:foldl(fun({_, I, _}, A) -> A + I end, 0, T), [ets:delete(T, {k, I}) || I <- lists:seq(1, N, 2)], t:p(Ty, {Sum, ets:info(T, size), ets:lookup(T, {k, 2}), ets:lookup(T, {k, 1}), length(ets:match_object(T, {{k, '_'}, '_', '_'})), ets:select_count(T, [{{'_', '$1', '_'}, [{'=<', '$1', 100}], [true]}])}), S = self(), [spawn(fun() -> [ets:insert(T, {{p, P, I}, P, []}) || I <- lists:seq(1, 200)], S ! done end) || P <- lists:seq(1, 10)], [receive done -> ok end || _ <- lists:seq(1, 10)], t:p(ets:info(T, size)), ets:delete(T) end || Ty <- [set, bag, ordered_set, duplicate_bag]],
    C = ets:new(c, [public, {write_concurrency, true}]), ets:insert(C, {n, 0}), S2 = self(), [spawn(fun() -> [ets:update_counter(C, n, 1) || _ <- lists:seq(1, 1000)], S2 ! ok end) || _ <- lists:seq(1, 8)], [receive ok -> ok end || _ <- lists:seq(1, 8)], t:p(ets:lookup(C, n)).
