%% What the sessions of `sessions` call.
-module(shelltest).
-export([fail/1, wait/0, point/2, spell/1, lines/1]).
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

point(X, Y) -> #point{x = X, y = Y}.

spell(T) -> io:format("~ts~n", [T]).

lines(N) -> [io:format("line ~p~n", [I]) || I <- lists:seq(1, N)], ok.
