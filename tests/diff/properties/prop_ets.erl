%% Random operations on tables of the four types against each other and lists.
-module(prop_ets).
-export([main/0]).
main() ->
    [run(Type, Opts) || Type <- [set, ordered_set, bag, duplicate_bag], Opts <- [[], [public, {write_concurrency, true}], [compressed]]].

run(Type, Opts) ->
    g:seed(5),
    T = ets:new(x, [Type | Opts]),
    Key = fun() -> g:one([g:int(40), float(g:int(20)), {g:int(5), g:atom()}, g:atom(), <<(g:int(4))>>]) end,
    Rs = g:times(2500, fun(_) -> step(g:int(16), T, Key()) end),
    All = sort(ets:tab2list(T)),
    t:p({Type, Opts}, ets:info(T, size)), g:digest("answers", Rs), g:digest("rows", All),
    ets:delete(T).

step(N, T, K) when N < 5 -> ets:insert(T, {K, g:int(9), g:atom()});
step(5, T, K) -> ets:insert(T, [{K, 1, a}, {{K}, 2, b}]);
step(6, T, K) -> ets:insert_new(T, {K, 0, new});
step(7, T, K) -> ets:delete(T, K);
step(8, T, K) -> ets:delete_object(T, {K, 1, a});
step(9, T, K) -> sort(ets:lookup(T, K));
step(10, T, K) -> {ets:member(T, K), t:c(fun() -> ets:lookup_element(T, K, 2) end)};
step(11, T, K) -> t:c(fun() -> ets:update_counter(T, K, {2, 3}) end);
step(12, T, _) -> sort(ets:select(T, [{{'$1', '$2', '_'}, [{'>', '$2', 6}], ['$1']}]));
step(13, T, K) -> sort(ets:take(T, K));
step(14, T, _) -> ets:select_delete(T, [{{'_', 8, '_'}, [], [true]}]);
step(15, T, K) -> {sort(ets:match(T, {K, '$1', '$2'})), sort(ets:match_object(T, {'_', 3, '_'})), ets:select_count(T, [{{'_', '$1', a}, [{'<', '$1', 5}], [true]}])}.

%% The order of a hash table's rows is nobody's business; 9 and 9.0 are not the same.
sort(Rows) -> lists:sort([term_to_binary(R) || R <- Rows]).
