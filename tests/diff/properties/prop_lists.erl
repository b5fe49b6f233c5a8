%% Random operations on lists, with and without bad arguments.
-module(prop_lists).
-export([main/0]).
main() ->
    g:seed(4),
    g:digest("lists", g:times(1000, fun(_) -> some(g:list(fun() -> g:int(20) end, 30), g:list(fun() -> g:int(20) end, 10)) end)),
    g:digest("tuples", g:times(500, fun(_) -> keys(g:list(fun() -> {g:int(9), g:atom(), g:small()} end, 20)) end)),
    g:digest("sorts", g:times(400, fun(_) -> sorts(g:list(fun() -> g:term(1) end, 40)) end)),
    g:digest("bad", g:times(300, fun(_) -> bad(g:term(1), g:term(2)) end)).

some(A, B) ->
    F = fun(X) -> X rem 3 =:= 0 end,
    [A ++ B, A -- B, B -- A, lists:reverse(A, B), lists:member(7, A), lists:delete(5, A), lists:partition(F, A), lists:splitwith(F, A),
     lists:takewhile(F, A), lists:dropwhile(F, A), lists:usort(A), lists:merge(lists:sort(A), lists:sort(B)), lists:subtract(A, B),
     lists:sublist(A, g:int(5) + 1, g:int(9)), lists:zip(A, A), lists:foldr(fun(X, S) -> X - S end, 0, A), lists:max([0 | A]),
     lists:nthtail(length(A) div 2, A), lists:prefix(B, A), lists:suffix(tl([0 | B]), A), lists:flatten([A, [B, [A]]]),
     lists:mapfoldl(fun(X, S) -> {X + S, S * X} end, 1, A), lists:uniq(A), lists:enumerate(B), lists:search(F, A),
     list_to_tuple(A), length(A), lists:join(x, B), lists:duplicate(3, B), lists:filtermap(fun(X) -> case X rem 4 of 0 -> {true, -X}; 1 -> true; _ -> false end end, A)].

keys(L) ->
    [lists:keysort(1, L), lists:keysort(3, L), lists:ukeysort(2, L), lists:keyfind(3, 1, L), lists:keydelete(4, 1, L), lists:keymember(ok, 2, L),
     lists:keyreplace(5, 1, L, {x}), lists:keystore(8, 1, L, {8, y, z}), lists:keytake(2, 1, L), lists:keysearch(0, 1, L),
     lists:keymap(fun(X) -> {X} end, 2, L), lists:keymerge(1, lists:keysort(1, L), lists:keysort(1, L)), lists:unzip3(L)].

sorts(L) ->
    S = lists:sort(L),
    true = S == lists:sort(fun(A, B) -> A =< B end, L),
    true = lists:usort(L) == lists:usort(fun(A, B) -> A =< B end, L),
    Down = lists:sort(fun(A, B) -> A >= B end, L),
    {S, lists:usort(L), Down, lists:min([z | L]), lists:max([z | L])}.

bad(A, B) ->
    [t:c(F) || F <- [fun() -> A ++ B end, fun() -> A -- B end, fun() -> lists:reverse(A, B) end, fun() -> lists:member(A, B) end,
                     fun() -> lists:keyfind(A, 1, B) end, fun() -> length(B) end, fun() -> lists:nth(2, B) end, fun() -> hd(B) end,
                     fun() -> tl(A) end, fun() -> element(1, A) end, fun() -> tuple_size(B) end, fun() -> list_to_tuple(A) end,
                     fun() -> lists:sum(B) end, fun() -> iolist_size(A) end, fun() -> iolist_to_binary(B) end]].
