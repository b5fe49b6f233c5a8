%% The tables of a process that ends go to their heirs in the order in which it got them.
-module(ets_owner_ends).
-export([main/0]).

main() ->
    Me = self(),
    io:format("~p~n", [ended([a, b, c, d], fun(Names) -> [inherited(N, Me) || N <- Names] end)]),
    %% One that was given away counts from when it came.
    io:format("~p~n", [ended([a, b, c], fun given/1)]),
    io:format("~p~n", [ended([a, b, c, d], fun fewer/1)]).

inherited(Name, Heir) -> ets:new(Name, [named_table, public, {heir, Heir, Name}]).
given([A, B, C]) ->
    Owner = self(),
    Heir = hd(get('$ancestors')),
    [inherited(N, Heir) || N <- [A, B]],
    {P, R} = spawn_monitor(fun() -> inherited(C, Heir), ets:give_away(C, Owner, given) end),
    receive {'DOWN', R, _, P, _} -> ok end,
    receive {'ETS-TRANSFER', C, P, given} -> ok end,
    Other = spawn(fun() -> receive {'ETS-TRANSFER', T, O, _} -> ets:give_away(T, O, back) end end),
    ets:give_away(A, Other, there),
    receive {'ETS-TRANSFER', A, Other, back} -> ok end.
fewer([_, B, _, _] = Names) ->
    Heir = hd(get('$ancestors')),
    [inherited(N, Heir) || N <- Names],
    ets:delete(B),
    inherited(B, Heir).

%% In which order tables come to their heir.
ended(Names, Make) ->
    Me = self(),
    {P, R} = spawn_monitor(fun() -> put('$ancestors', [Me]), Make(Names) end),
    receive {'DOWN', R, process, P, Why} -> io:format("~p ", [Why]) end,
    Order = came(P),
    [ets:delete(N) || N <- Order],
    Order.
came(P) -> receive {'ETS-TRANSFER', T, P, _} -> [T | came(P)] after 0 -> [] end.
