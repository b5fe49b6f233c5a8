%% What the sessions of `sessions` call.
-module(shelltest).
-export([fail/1, wait/0, point/2, spell/1, lines/1, busy/0, all_well/1]).
-include("shelltest.hrl").

%% Calls that fail, each in its way.
fail(badarith) -> 1 + id(a);
fail(badmatch) -> {ok, _} = id(error);
fail(bif) -> atom_to_list(id(1));
fail(clause) -> lists:reverse(id(a));
fail(exit) -> exit(reason);
fail(throw) -> throw(ball).

id(X) -> X.

%% For ever.
wait() -> receive never -> ok end.

%% Processes that talk, compute and have timers. Each counts.
busy() ->
    [spawn_link(fun() -> begun(I) end) || I <- lists:seq(1, 12)].

begun(I) when I rem 3 =:= 0 -> timed(0);
begun(I) when I rem 3 =:= 1 -> computing(0);
begun(_) -> Other = spawn_link(fun echo/0), talking(Other, 0).

echo() -> receive {From, N} -> From ! N, echo() end.

talking(Other, N) ->
    Other ! {self(), N},
    receive N -> ok end,
    talking(Other, answered(N)).

timed(N) -> receive {tell, _} = M -> self() ! M after 1 -> ok end, timed(answered(N)).

computing(N) -> computing(answered(N)).

answered(N) ->
    receive {tell, From} -> From ! {self(), N}, N + 1
    after 0 -> N + 1
    end.

%% Do all of them still count?
all_well(Pids) ->
    First = [count(P) || P <- Pids],
    lists:all(fun({P, N}) -> goes_on(P, N) end, lists:zip(Pids, First)).

goes_on(P, N) -> count(P) > N orelse goes_on(P, N).

count(P) -> P ! {tell, self()}, receive {P, N} -> N end.

point(X, Y) -> #point{x = X, y = Y}.

spell(T) -> io:format("~ts~n", [T]).

lines(N) -> [io:format("line ~p~n", [I]) || I <- lists:seq(1, N)], ok.
