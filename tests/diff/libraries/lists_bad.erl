%% Functions of lists with lists of the wrong kind: reason and first frame of each.
-module(lists_bad).
-export([main/0]).
main() ->
    F1 = fun(X) -> X end, F2 = fun(X, Y) -> {X, Y} end, Bads = [a, [1 | 2], [x, y], {}],
    Fs = [{all, 2}, {any, 2}, {append, 1}, {concat, 1}, {delete, 2}, {droplast, 1}, {dropwhile, 2}, {duplicate, 2}, {enumerate, 1}, {filter, 2}, {filtermap, 2}, {flatlength, 1}, {flatmap, 2}, {flatten, 1}, {foldl, 3}, {foldr, 3}, {foreach, 2}, {join, 2}, {keydelete, 3}, {keyfind, 3}, {keymap, 3}, {keymember, 3}, {keymerge, 3}, {keyreplace, 4}, {keysearch, 3}, {keysort, 2}, {keystore, 4}, {keytake, 3}, {last, 1}, {map, 2}, {mapfoldl, 3}, {mapfoldr, 3}, {max, 1}, {member, 2}, {merge, 1}, {merge, 2}, {merge, 3}, {merge3, 3}, {min, 1}, {nth, 2}, {nthtail, 2}, {partition, 2}, {prefix, 2}, {reverse, 1}, {reverse, 2}, {search, 2}, {seq, 2}, {seq, 3}, {sort, 1}, {sort, 2}, {split, 2}, {splitwith, 2}, {sublist, 2}, {sublist, 3}, {subtract, 2}, {suffix, 2}, {sum, 1}, {takewhile, 2}, {ukeymerge, 3}, {ukeysort, 2}, {umerge, 2}, {uniq, 1}, {uniq, 2}, {unzip, 1}, {unzip3, 1}, {usort, 1}, {usort, 2}, {zip, 2}, {zip3, 3}, {zipwith, 3}, {zipwith3, 4}],
    [io:format("~w/~w ~0p: ~0tp~n", [F, N, t:plain(As), call(F, As)]) || {F, N} <- Fs, B <- Bads, As <- args(N, B, F1, F2)],
    t:p([lists:seq(5, 1, -2), lists:seq(1, 0), t:c(fun() -> lists:seq(1, 5, 0) end), t:c(fun() -> lists:seq(1, 5, -1) end), lists:seq(3, 3, 0), t:c(fun() -> lists:seq(1.0, 2) end), lists:sublist("abc", 2, 10), lists:sublist("abc", 5), t:c(fun() -> lists:sublist("abc", 5, 1) end), t:c(fun() -> lists:sublist("abc", 0, 1) end), t:c(fun() -> lists:split(5, "abc") end), t:c(fun() -> lists:nth(0, "abc") end), lists:nthtail(3, "abc"), t:c(fun() -> lists:nthtail(4, "abc") end), t:c(fun() -> lists:zip([1], [1, 2]) end), t:c(fun() -> lists:last([]) end), t:c(fun() -> lists:max([]) end), lists:flatten([[], [[[]]], a | []]), t:c(fun() -> lists:keysort(3, [{1, 2}]) end), t:c(fun() -> lists:duplicate(-1, a) end), lists:merge([[1, 3], [2], [], [0, 9]]), lists:umerge3([1, 2], [2, 3], [1, 3]), lists:rmerge([3, 1], [2]), lists:rukeymerge(1, [{3}, {1}], [{2}])]).
args(1, B, _, _) -> [[B]];
args(2, B, F1, _) -> [[F1, B], [B, B], [1, B]];
args(3, B, F1, F2) -> [[F2, B, B], [F1, 0, B], [a, 1, B], [1, 2, B]];
args(4, B, _, _) -> [[a, 1, B, {z}], [fun(X, Y, Z) -> {X, Y, Z} end, B, B, B]].
call(F, As) -> try {ok, t:plain(apply(lists, F, As))} catch C:R:S -> [{M, Fn, A, _} | _] = S, {C, t:plain(R), M, Fn, if is_list(A) -> t:plain(A); true -> A end} end.
