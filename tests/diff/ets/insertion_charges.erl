%% What insertions cost in reductions: in a bag an object passes those of its key, and a list is checked
%% first, then inserted at once or copied, depending on the reductions left.
-module(insertion_charges).
-export([main/0]).

main() ->
    [t:p({Name, [cost(fun() -> new(Type) end, fun(T) -> Call(T, N) end) || N <- [1, 10, 100, 1000]]})
     || {Name, Type, Call} <- cases()],
    [t:p({Name, Spent, N, cost(fun() -> spin(Spent), new(set) end, fun(T) -> Call(T, N) end)})
     || {Name, Call} <- long(), Spent <- [0, 1000, 3900], N <- [300, 5000, 11_000, 15_000]],
    [t:p({last, N, last(N, Spent)}) || Spent <- [0, 3900], N <- [300, 5000, 15_500, 40_000]].

cases() ->
    [{one_key, bag, fun(T, N) -> [ets:insert(T, {k, X}) || X <- lists:seq(1, N)] end},
     {again, bag, fun(T, N) -> [ets:insert(T, {k, X rem 20}) || X <- lists:seq(1, N)] end},
     {list_of_one_key, bag, fun(T, N) -> ets:insert(T, objects(k, N)) end},
     {list, bag, fun(T, N) -> ets:insert(T, objects(N)) end},
     {new_list, bag, fun(T, N) -> ets:insert_new(T, objects(N)) end},
     {duplicates, duplicate_bag, fun(T, N) -> ets:insert(T, objects(k, N)) end},
     {ordered, ordered_set, fun(T, N) -> ets:insert(T, objects(N)) end},
     {set, set, fun(T, N) -> ets:insert(T, objects(N)) end},
     {refused, set, fun(T, N) -> ets:insert(T, {N div 2, old}), ets:insert_new(T, objects(N)) end}].

long() ->
    [{insert, fun(T, N) -> ets:insert(T, objects(N)) end},
     {insert_new, fun(T, N) -> ets:insert_new(T, objects(N)) end}].

new(Type) -> ets:new(t, [Type]).
objects(N) -> [{X, X} || X <- lists:seq(1, N)].
objects(Key, N) -> [{Key, X} || X <- lists:seq(1, N)].
spin(0) -> ok;
spin(N) -> spin(N - 1).

%% The order in which objects of one key are inserted.
last(N, Spent) ->
    run(fun() ->
        T = new(set),
        L = [{k, X} || X <- lists:seq(1, N)],
        erlang:yield(),
        spin(Spent),
        ets:insert(T, L),
        ets:lookup(T, k)
    end).

%% In a fresh time slice.
cost(Make, Call) ->
    run(fun() ->
        Call(Make()),
        erlang:yield(),
        A = look(),
        Call(Make()),
        look() - A
    end).
look() ->
    {_, R} = process_info(self(), reductions),
    R.
run(F) ->
    {P, M} = spawn_opt(fun() -> exit({F()}) end, [monitor, {min_heap_size, 2000000}, {min_bin_vheap_size, 2000000}]),
    receive {'DOWN', M, _, P, {R}} -> R end.
