%% Iterators over small and large maps; printing order of large maps.
-module(map_iter).
-export([main/0]).
main() ->
    t:p(walk(maps:iterator(#{c => 1, a => 2, b => 3}))),
    t:p(lists:sort(walk(maps:iterator(maps:from_list([{I, a} || I <- lists:seq(1, 100)])))) =:= [{I, a} || I <- lists:seq(1, 100)]),
    t:p(maps:next(maps:iterator(#{}))),
    t:p(maps:to_list(maps:from_list([{I, b} || I <- lists:seq(1, 40)]))),
    t:p(maps:from_list([{list_to_atom("k" ++ integer_to_list(I)), I} || I <- lists:seq(1, 40)]) =:= t:id(maps:from_list([{list_to_atom("k" ++ integer_to_list(I)), I} || I <- lists:seq(40, 1, -1)]))),
    t:p(maps:map(fun(_, V) -> V + 1 end, maps:iterator(#{a => 1, b => 2}))),
    t:p(maps:filter(fun(K, _) -> K > 3 end, maps:iterator(maps:from_list([{I, I} || I <- lists:seq(1, 5)])))),
    t:pc(fun() -> maps:next(t:id(foo)) end),
    t:pc(fun() -> maps:iterator(t:id(foo)) end).
walk(I) -> case maps:next(I) of {K, V, J} -> [{K, V} | walk(J)]; none -> [] end.
