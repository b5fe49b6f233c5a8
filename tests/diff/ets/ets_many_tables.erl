%% ets:all/0 has the tables in the order in which they were made, however many there are; a process with
%% many tables deletes some of them, gives some away, and leaves the others to their heir when it ends.
-module(ets_many_tables).
-export([main/0]).

-define(MANY, 20_000).

main() ->
    Before = ets:all(),
    Ts = [ets:new(t, [bag]) || _ <- lists:seq(1, 5)],
    [ets:new(N, [named_table]) || N <- [b, a, c]],
    U = ets:new(u, []),
    ets:delete(lists:nth(2, Ts)),
    ets:rename(c, d),
    All = ets:all() -- Before,
    t:p([place(T, Ts ++ [U]) || T <- All]),
    many(Before ++ All),
    heirs().

place(T, _) when is_atom(T) -> T;
place(T, Ts) -> length(lists:takewhile(fun(X) -> X =/= T end, Ts)) + 1.

many(Before) ->
    {P, M} = spawn_monitor(fun() ->
        Ts = [ets:new(t, [public]) || _ <- lists:seq(1, ?MANY)],
        t:p(ets:all() -- Before =:= Ts),
        {First, Rest} = lists:split(?MANY div 2, Ts),
        [ets:delete(T) || T <- lists:reverse(First)],
        t:p(ets:all() -- Before =:= Rest),
        t:p([ets:info(T) || T <- First, ets:info(T) =/= undefined]),
        [ets:insert(T, {I, x}) || {I, T} <- lists:zip(lists:seq(1, length(Rest)), Rest)],
        t:p(lists:sum([ets:info(T, size) || T <- Rest])),
        exit({done, lists:last(Rest), hd(Rest)})
    end),
    receive {'DOWN', M, process, P, {done, A, B}} -> t:p([ets:info(A), ets:info(B)]) end,
    t:p(lists:sort(ets:all()) =:= lists:sort(Before)).

%% A table that was given away and came back is the last.
heirs() ->
    Me = self(),
    {P, M} = spawn_monitor(fun() ->
        Ts = [ets:new(t, [{heir, Me, I}]) || I <- lists:seq(1, 6)],
        Other = spawn(fun() -> receive {'ETS-TRANSFER', T, From, _} -> ets:give_away(T, From, back) end,
                               receive stop -> ok end end),
        ets:give_away(hd(Ts), Other, x),
        receive {'ETS-TRANSFER', _, Other, back} -> ok end,
        ets:delete(lists:nth(3, Ts)),
        Other ! stop,
        exit(over)
    end),
    receive {'DOWN', M, process, P, over} -> ok end,
    t:p(lists:sort(gifts(P))).

gifts(P) -> receive {'ETS-TRANSFER', T, P, I} -> [{I, ets:info(T, owner) =:= self()} | gifts(P)] after 100 -> [] end.
