%% select_replace: keys kept, changes refused, counts, bags, compressed tables, errors.
-module(ets_replace_more).
-export([main/0]).
main() ->
    [begin Mk = fun() -> T = ets:new(t, [Y | O]), ets:insert(T, [{I, I rem 3, {x, I}} || I <- lists:seq(1, 20)]), T end,
         [begin T = Mk(), R = t:c(fun() -> ets:select_replace(T, M) end),
    t:p({Y, M}, {R, erlang:phash2(lists:sort(ets:tab2list(T)))}) end || M <- [[{{'$1', 1, '$2'}, [], [{{'$1', one, '$2'}}]}], [{{'$1', '_', '$2'}, [{'>', '$1', 15}], [{{'$1', '$2'}}]}], [{{'$1', 2, '_'}, [], [{{{'+', '$1', 1}, changed}}]}], [{{'$1', '$2', '$3'}, [], ['$_']}], [{'$1', [], ['$1']}], [{{5, '_', '_'}, [], [{{5, const, {const, {a}}}}]}], [{{5, '_', '_'}, [], [{{6, x, y}}]}], [{{5, '_', '_'}, [], [{{5.0, x, y}}]}], [{{'$1', '_', '_'}, [], ['$1']}], [{{'$1', '_', '_'}, [], [{{'$1'}}]}], [{{'$1', '_', '_'}, [], [{setelement, 2, '$_', z}]}], [], [bad], [{{'$1', '_', '_'}, [], []}], [{{'$1', 0, '_'}, [], [{{'$1', zero, '$_'}}]}, {{'$1', 1, '_'}, [], [{{'$1', one, '$$'}}]}], [{{{'$1'}, '_', '_'}, [], [{{{{'$1'}}, x}}]}]]]
     end || Y <- [set, ordered_set, duplicate_bag, bag], O <- [[], [compressed]]], T = ets:new(t, [{keypos, 2}]), ets:insert(T, [{a, 1}, {b, 2}]),
    t:p(t:c(fun() -> ets:select_replace(T, [{{'$1', '$2'}, [], [{{x, '$2'}}]}]) end)),
    t:p(lists:sort(ets:tab2list(T))),
    t:pc(fun() -> ets:select_replace(T, [{{'$1', '$2'}, [], [{{'$2', '$1'}}]}]) end), U = ets:new(u, [{keypos, 1}]), ets:insert(U, [{{K, K * 2}, v} || K <- lists:seq(1, 5)]),
    t:p(t:c(fun() -> ets:select_replace(U, [{{{'$1', '$2'}, v}, [], [{{{{'$1', '$2'}}, w}}]}]) end)),
    t:p(t:c(fun() -> ets:select_replace(U, [{{{'$1', '$2'}, '_'}, [], [{{{{'$2', '$1'}}, w}}]}]) end)),
    t:p(lists:sort(ets:tab2list(U))).
