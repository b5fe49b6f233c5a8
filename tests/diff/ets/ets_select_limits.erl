%% select with limits, continuations, reversed, on partly bound keys.
-module(ets_select_limits).
-export([main/0]).
main() ->
    T = ets:new(t, [ordered_set]), ets:insert(T, [{{A, B}, A * B} || A <- lists:seq(1, 8), B <- lists:seq(1, 5)]), t:p(all(ets:select(T, [{{{3, '$1'}, '_'}, [], ['$1']}], 2))), t:p(all_r(ets:select_reverse(T, [{{{3, '$1'}, '_'}, [], ['$1']}], 2))), t:p(ets:select_reverse(T, [{{{'$1', 2}, '_'}, [], ['$1']}])), t:p(all(ets:match(T, {{2, '$1'}, '$2'}, 3))), t:p(all(ets:match_object(T, {{'_', 5}, '_'}, 3))), t:p(ets:select(T, [{{{99, '_'}, '_'}, [], ['$_']}], 5)), t:p(ets:select(T, [{{{1, 1}, '$1'}, [], ['$1']}, {{{8, 5}, '$1'}, [], ['$1']}])), t:p(ets:select_count(T, [{{{'$1', '$1'}, '_'}, [], [true]}])), t:p(ets:match(T, {{'$2', '$1'}, 10})), S = ets:new(s, []), ets:insert(S, [{I} || I <- lists:seq(1, 50)]), t:p(lists:sort(lists:append(all(ets:select(S, [{{'$1'}, [{'>', '$1', 45}], ['$1']}], 2))))), {_, C} = ets:select(T, [{'_', [], [x]}], 39), ets:delete_all_objects(T), t:p(ets:select(C)), [t:p(m:outcome(ets, F, A)) || {F, A} <- [{select, ['$end_of_table']}, {match, ['$end_of_table']}, {select, [a]}, {match_object, [{a, b}]}, {select_reverse, [x]}]].
all('$end_of_table') -> []; all({L, C}) -> [L | all(ets:select(C))].
all_r('$end_of_table') -> []; all_r({L, C}) -> [L | all_r(ets:select_reverse(C))].
