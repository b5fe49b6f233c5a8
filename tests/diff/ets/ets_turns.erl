%% Operations on tables that take several turns: what others see of them, and what is left of them
%% when the process that began one is killed, or the table ends.
-module(ets_turns).
-export([main/0]).

-define(N, 60000).

main() ->
    [walk(Type) || Type <- [set, ordered_set, bag, duplicate_bag]],
    [insert(Type) || Type <- [set, ordered_set, bag, duplicate_bag]],
    errors(),
    isolated(),
    killed_in_insert(),
    killed_in_walk(),
    gone(),
    fixed(),
    growing().

rows(N) -> [{I, a, I rem 7} || I <- lists:seq(1, N)].
table(Type) ->
    T = ets:new(t, [Type, public]),
    true = ets:insert(T, rows(?N)),
    T.
count(T) -> ets:info(T, size).

%% Every kind of walk through a table larger than a turn.
walk(Type) ->
    T = table(Type),
    Spec = fun(Body) -> [{{'$1', a, '$2'}, [{'>', '$2', 2}], Body}] end,
    Sum = fun(L) -> {length(L), lists:sum(L), erlang:phash2(L)} end,
    io:format("~p ~p~n", [Type, Sum(ets:select(T, Spec(['$1'])))]),
    io:format("~p~n", [Sum(ets:select_reverse(T, Spec(['$1'])))]),
    io:format("~p~n", [Sum([I || [I] <- ets:match(T, {'$1', a, 3})])]),
    io:format("~p~n", [Sum([I || {I, _, _} <- ets:match_object(T, {'_', a, 3})])]),
    io:format("~p~n", [Sum([I || {I, _, _} <- ets:tab2list(T)])]),
    io:format("~p~n", [ets:select(T, [{{'$1', b, '_'}, [], ['$1']}], 1)]),
    {L, C} = ets:select(T, Spec(['$1']), 20000),
    io:format("~p~n", [Sum(L)]),
    {L2, _} = ets:select(C),
    io:format("~p~n", [Sum(L2)]),
    io:format("~p~n", [ets:select_count(T, Spec([true]))]),
    Type =:= bag orelse
        io:format("~p~n", [ets:select_replace(T, [{{'$1', a, 6}, [], [{{'$1', c, 6}}]}])]),
    io:format("~p ~p~n", [ets:select_delete(T, Spec([true])), count(T)]),
    io:format("~p ~p~n", [ets:match_delete(T, {'_', c, '_'}), count(T)]),
    io:format("~p ~p~n", [Sum([I || {I, _, _} <- ets:tab2list(T)]), ets:delete(T)]).

insert(Type) ->
    T = ets:new(t, [Type, public]),
    Twice = [{I rem 40000, I} || I <- lists:seq(1, ?N)],
    io:format("~p ~p ~p~n", [ets:insert(T, Twice), count(T), erlang:phash2(ets:tab2list(T))]),
    io:format("~p ~p~n", [ets:lookup(T, 17), ets:lookup(T, 39999)]),
    New = [{x, I} || I <- lists:seq(1, 2000)],
    io:format("~p ~p~n", [ets:insert_new(T, New ++ [{3, b}]), count(T)]),
    io:format("~p ~p ~p~n", [ets:insert_new(T, New), count(T), erlang:phash2(ets:lookup(T, x))]),
    io:format("~p~n", [ets:insert_new(T, New)]).

errors() ->
    T = ets:new(t, [{keypos, 2}]),
    Try = fun(F) -> try F() catch C:{R, _} -> {C, R}; C:R -> {C, R} end end,
    L = [{I, I} || I <- lists:seq(1, 30000)],
    io:format("~p~n", [Try(fun() -> ets:insert(T, L ++ [{1}]) end)]),
    io:format("~p~n", [Try(fun() -> ets:insert(T, L ++ improper) end)]),
    io:format("~p~n", [Try(fun() -> ets:insert_new(T, L ++ [x]) end)]),
    io:format("~p~n", [count(T)]),
    P = ets:new(p, [protected]),
    Me = self(),
    spawn(fun() -> Me ! Try(fun() -> ets:insert(P, L) end) end),
    receive R -> io:format("~p~n", [R]) end.

%% Others see all of a long insertion or nothing.
isolated() ->
    T = ets:new(t, [public]),
    L = rows(?N),
    Me = self(),
    Looker = spawn_link(fun() -> look(T, Me, 0) end),
    ets:insert(T, L),
    Looker ! stop,
    receive {sizes, Bad} -> io:format("isolated ~p ~p~n", [Bad, count(T)]) end,
    %% and of two that exclude each other one wins
    ets:delete_all_objects(T),
    Race = fun(Tag) -> spawn_link(fun() -> Me ! {Tag, ets:insert_new(T, [{I, Tag} || I <- lists:seq(1, ?N)])} end) end,
    Race(a), Race(b),
    receive {a, A} -> ok end,
    receive {b, B} -> ok end,
    Winner = case {A, B} of {true, false} -> a; {false, true} -> b end,
    io:format("~p ~p~n", [count(T), ets:select_count(T, [{{'_', Winner}, [], [true]}])]).
look(T, Me, Bad) ->
    More = case count(T) of 0 -> 0; ?N -> 0; _ -> 1 end,
    receive stop -> Me ! {sizes, Bad + More} after 0 -> look(T, Me, Bad + More) end.

%% A process that is killed leaves the table with all of its objects or none.
killed_in_insert() ->
    L = rows(?N),
    Sizes = [begin
        T = ets:new(t, [public]),
        {P, M} = spawn_monitor(fun() -> ets:insert(T, L) end),
        wait(N),
        exit(P, kill),
        receive {'DOWN', M, _, _, _} -> ok end,
        S = count(T),
        S2 = begin ets:insert(T, {x, y, z}), count(T) - 1 end,
        ets:delete(T),
        {true, true} =:= {S =:= S2, S =:= 0 orelse S =:= ?N}
    end || N <- lists:seq(1, 20)],
    io:format("~p~n", [lists:usort(Sizes)]).

%% One that is killed in a walk leaves the table free to grow and shrink, and not fixed.
killed_in_walk() ->
    T = table(set),
    [begin
        {P, M} = spawn_monitor(fun() -> forever(T) end),
        wait(N),
        exit(P, kill),
        receive {'DOWN', M, _, _, _} -> ok end
    end || N <- lists:seq(1, 10)],
    io:format("~p ~p~n", [ets:info(T, safe_fixed), ets:info(T, fixed)]),
    ets:insert(T, [{{new, I}, a, b} || I <- lists:seq(1, ?N)]),
    io:format("~p ~p~n", [count(T), length(ets:tab2list(T))]).
forever(T) -> ets:select_count(T, [{{'_', b, '_'}, [], [true]}]), forever(T).
wait(N) -> lists:foreach(fun(_) -> erlang:yield() end, lists:seq(1, N)).

%% A table that ends while a process walks through it: badarg.
gone() ->
    Results = [begin
        T = table(set),
        {P, M} = spawn_monitor(fun() -> exit(try forever(T) catch error:badarg -> gone end) end),
        wait(N),
        ets:delete(T),
        receive {'DOWN', M, process, P, R} -> R end
    end || N <- lists:seq(1, 10)],
    io:format("~p~n", [lists:usort(Results)]).

%% Emptying a fixed table, and walking on.
fixed() ->
    T = table(set),
    ets:safe_fixtable(T, true),
    K = ets:first(T),
    io:format("~p ~p ~p~n", [ets:delete_all_objects(T), count(T), ets:next(T, K)]),
    ets:insert(T, rows(1000)),
    io:format("~p ~p~n", [count(T), length(ets:tab2list(T))]),
    ets:safe_fixtable(T, false),
    io:format("~p ~p~n", [count(T), length(ets:tab2list(T))]).

%% Every object that is there all the time is seen once, however much the table changes meanwhile.
growing() ->
    T = table(set),
    Writer = spawn_link(fun() -> write(T, 0) end),
    Counts = [ets:select_count(T, [{{'$1', '_', '_'}, [{is_integer, '$1'}], [true]}]) || _ <- lists:seq(1, 20)],
    Lists = [length([I || {I, _, _} <- ets:tab2list(T), is_integer(I)]) || _ <- lists:seq(1, 5)],
    unlink(Writer),
    exit(Writer, kill),
    io:format("~p ~p~n", [lists:usort(Counts), lists:usort(Lists)]).
write(T, N) ->
    ets:insert(T, {{new, N}, a, b}),
    ets:delete(T, {new, N - 2000}),
    write(T, N + 1).
