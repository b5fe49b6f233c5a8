%% dict and orddict: every operation, merges, updates, missing keys, the order of what comes out.
-module(lib_dicts).
-export([main/0]).
main() ->
    [begin E = M:from_list([{a, 1}, {b, [x]}, {1, one}, {1.0, flt}]), Big = M:from_list([{I, I * I} || I <- lists:seq(1, 200)]),
         t:p(M, [M:to_list(E), M:size(Big), erlang:phash2(M:to_list(Big)), M:fetch_keys(E), M:is_empty(M:new())]),
         m:fs(M, [fetch, find, is_key, erase, take], [[a, 1, 1.0, z], [E, M:new()]]),
    m:f(M, append, [[b, z, a], [y], [E]]),
    m:f(M, append_list, [[b, z], [[y, z], []], [E]]),
    m:f(M, store, [[a, z, 1], [new], [E]]),
    m:f(M, update, [[a, z], [fun(X) -> {X} end], [E]]),
    m:f(M, update, [[a, z], [fun(X) -> {X} end], [init], [E]]),
    m:f(M, update_counter, [[a, z, b], [5, -1, x], [E]]),
         t:p(M:to_list(M:filter(fun(K, _) -> is_atom(K) end, E))),
    t:p(M:to_list(M:map(fun(K, V) -> {K, V} end, E))),
    t:p(M:fold(fun(K, V, A) -> [{K, V} | A] end, [], E)),
    t:p(M:to_list(M:merge(fun(K, V1, V2) -> {K, V1, V2} end, E, M:from_list([{a, 2}, {c, 3}, {1, uno}]))))
     end || M <- [dict, orddict]],
    t:p(erlang:phash2(dict:from_list([{I, I} || I <- lists:seq(1, 1000)]))),
    m:f(orddict, from_list, [[[], [{b, 1}, {a, 1}, {b, 2}], [x], a]]),
    m:f(orddict, fetch, [[a], [[{a, 1}], [{b, 1}], [x], y]]).
