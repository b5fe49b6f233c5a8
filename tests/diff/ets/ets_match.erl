%% match, match_object, match_delete, select and its forms.
-module(ets_match).
-export([main/0]).
main() ->
    T = ets:new(t, [ordered_set]), ets:insert(T, [{I, I rem 3, {x, I * 2}, integer_to_list(I)} || I <- lists:seq(1, 30)]),
    t:p(ets:match(T, {'$1', 0, '_', '_'})), t:p(ets:match(T, {'$2', 1, {x, '$1'}, '_'})), t:p(ets:match_object(T, {'_', 2, {'_', 10}, '_'})), t:p(ets:match(T, {5, '$1', '$2', '$3'})), t:p(ets:match(T, {'$1', '$1', '_', '_'})), t:p(ets:match(T, '$1', 2) =/= []),
    t:p(ets:select(T, [{{'$1', '$2', '_', '_'}, [{'>', '$1', 20}, {'=:=', '$2', 0}], ['$1']}])), t:p(ets:select(T, [{{'$1', '_', {x, '$2'}, '_'}, [{'<', '$1', 4}], [{{'$2', '$1', {const, {a}}}}]}, {{30, '_', '_', '$3'}, [], ['$3']}])), t:p(ets:select(T, [{{'$1', '_', '_', '_'}, [{'andalso', {'>=', '$1', 29}, {'not', {'==', '$1', 30}}}], ['$_']}])), t:p(ets:select(T, [{{2, '$1', '$2', '_'}, [], ['$$']}])),
    t:p(ets:select_count(T, [{{'_', 1, '_', '_'}, [], [true]}])), t:p(ets:select_reverse(T, [{{'$1', 0, '_', '_'}, [], ['$1']}])), {L1, C1} = ets:select(T, [{{'$1', '_', '_', '_'}, [], ['$1']}], 7), t:p(L1), t:p(more(C1, fun ets:select/1)), {M1, C2} = ets:match(T, {'$1', 1, '_', '_'}, 4), t:p(M1), t:p(more(C2, fun ets:match/1)), t:p(ets:select(T, [{{0, '_', '_', '_'}, [], ['$_']}], 5)),
    t:p(ets:select_replace(T, [{{'$1', 0, '$2', '$3'}, [], [{{'$1', zero, '$2', '$3'}}]}])), t:p(ets:match(T, {'$1', zero, '_', '_'})), t:p(ets:select_delete(T, [{{'$1', '_', '_', '_'}, [{'>', '$1', 10}], [true]}])), t:p(ets:info(T, size)), t:p(ets:match_delete(T, {'_', 1, '_', '_'})), t:p([K || {K, _, _, _} <- ets:tab2list(T)]),
    t:p(ets:fun2ms(fun(X) -> X end)) .
more('$end_of_table', _) -> []; more(C, F) -> case F(C) of '$end_of_table' -> []; {L, C2} -> L ++ more(C2, F) end.
-include_lib("stdlib/include/ms_transform.hrl").
