%% The functions of module maps.
-module(map_module).
-export([main/0]).
main() ->
    M = #{a => 1, b => 2, c => 3},
    t:p([maps:get(a, M), maps:get(z, M, def), maps:find(b, M), maps:find(z, M), maps:is_key(c, M)]),
    t:p(maps:put(d, 4, M)), t:p(maps:update(a, 5, M)), t:p(maps:remove(a, M)), t:p(maps:remove(z, M)),
    t:p(maps:take(b, M)), t:p(maps:take(z, M)), t:p(maps:merge(M, #{c => 30, e => 5})),
    t:p(maps:merge_with(fun(K, A, B) -> {K, A, B} end, M, #{c => 30, e => 5})),
    t:p(maps:intersect(M, #{c => 9, a => 8, x => 1})),
    t:p(maps:intersect_with(fun(_, A, B) -> A + B end, M, #{c => 9, a => 8, x => 1})),
    t:p(maps:map(fun(K, V) -> {K, V} end, M)), t:p(maps:filter(fun(_, V) -> V rem 2 =:= 1 end, M)),
    t:p(maps:filtermap(fun(_, V) -> V > 1 andalso {true, V * V} end, M)),
    t:p(maps:fold(fun(K, V, Acc) -> [{K, V} | Acc] end, [], M)), maps:foreach(fun(K, V) -> t:p({K, V}) end, M),
    t:p(maps:with([a, z], M)), t:p(maps:without([a, z], M)), t:p(maps:from_keys([x, y], 0)), t:p(maps:new()), t:p(maps:size(M)),
    t:p(maps:update_with(a, fun(V) -> V * 100 end, M)), t:p(maps:update_with(q, fun(V) -> V end, init, M)),
    t:p(maps:groups_from_list(fun(X) -> X rem 3 end, lists:seq(1, 10))),
    [t:pc(F) || F <- [fun() -> maps:get(z, M) end, fun() -> maps:get(a, t:id(1)) end, fun() -> maps:update(z, 1, M) end,
        fun() -> maps:from_list(t:id([a])) end, fun() -> maps:from_list(t:id([{a, 1} | b])) end, fun() -> maps:merge(M, t:id(x)) end, fun() -> maps:put(a, 1, t:id([])) end,
        fun() -> maps:keys(t:id(1)) end, fun() -> maps:map(t:id(f), M) end, fun() -> maps:remove(a, t:id(1)) end, fun() -> maps:size(t:id(1)) end, fun() -> maps:update_with(z, fun(X) -> X end, M) end]].
