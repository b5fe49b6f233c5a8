%% Selecting with limits: continuations used twice, after deletes, by others, repaired, reversed.
-module(ets_continuations).
-export([main/0]).
main() ->
    [begin T = ets:new(t, [Y, public]), ets:insert(T, [{I, I rem 7} || I <- lists:seq(1, 100)]), ets:safe_fixtable(T, true), M = [{{'$1', '$2'}, [{'<', '$2', 4}], ['$1']}], {A, C} = ets:select(T, M, 10), {B, C2} = ets:select(C), {B2, _} = ets:select(C),
    t:p(Y, {length(A), B =:= B2, length(B)}),
    t:p(length(all(C2, select))), [ets:delete(T, K) || K <- B],
    t:p(length(all(C, select)) =< 57), S = self(), spawn(fun() -> S ! {other, length(all(C2, select))} end),
    receive {other, N} -> t:p(N >= 30) end, {R, RC} = ets:select_reverse(T, M, 7),
    t:p({length(R), length(all(RC, select_reverse))}), {Mt, MC} = ets:match(T, {'$1', 3}, 3),
    t:p({length(Mt), length(all(MC, match))}), {Ob, OC} = ets:match_object(T, {'_', 5}, 4),
    t:p({length(Ob), length(all(OC, match_object))}),
    t:p(ets:select(T, [{{'$1', 99}, [], ['$_']}], 5)),
    t:p(ets:is_compiled_ms(ets:match_spec_compile(M))), X = ets:repair_continuation(C2, M),
    t:p(length(element(1, ets:select(X))) > 0), Y2 = binary_to_term(term_to_binary(C2)),
    t:p(t:c(fun() -> {L, _} = ets:select(ets:repair_continuation(Y2, M)), length(L) > 0 end)), ets:delete(T),
    t:p(element(1, t:c(fun() -> ets:select(C2) end))) end || Y <- [set, ordered_set, bag]],
    E = ets:new(e, [ordered_set]),
    t:p([ets:select(E, [{'_', [], ['$_']}], 1), ets:select('$end_of_table'), ets:match('$end_of_table'), ets:select_reverse('$end_of_table')]),
    m:fs(ets, [select, match, match_object, select_reverse], [[a, {}, {a, b}, [], '$end_of_table', 1]]), ets:insert(E, [{I} || I <- lists:seq(1, 5)]), [t:pc(L, fun() -> case ets:select(E, [{{'$1'}, [], ['$1']}], L) of {Z, _} -> Z; O -> O end end) || L <- [1, 5, 6, 1 bsl 70, 0, -1, a, 1.0]],
    t:p(lists:append([Z || Z <- pages(ets:select(E, [{{'$1'}, [], ['$1']}], 2))])),
    t:p(pages(ets:select(E, [{{3}, [], ['$_']}], 1))),
    t:p(pages(ets:select_reverse(E, [{{'$1'}, [], ['$1']}], 3), select_reverse)).
all('$end_of_table', _) -> []; all(C, F) -> case ets:F(C) of {L, C2} -> L ++ all(C2, F); '$end_of_table' -> [] end.
pages(P) -> pages(P, select).
pages('$end_of_table', _) -> []; pages({L, C}, F) -> [L | pages(ets:F(C), F)].
