%% What native code can hold that differs from one start to the next: atoms, literals, hashes of keys, exports,
%% funs, strings, segments, calls by name. Six modules of it, so that they are worth keeping. `main/1` names the
%% atoms backwards first, if asked, which gives them other numbers.
-module(parts).
-export([main/1, all/0]).

main([Order]) ->
    Names = [list_to_atom(lists:concat(["atom_", N])) || N <- order(Order, lists:seq(1, 40))],
    io:format("~p ~p~n", [length(Names), [(part(N)):all() || N <- lists:seq(1, 6)]]).

order("forwards", L) -> L;
order("backwards", L) -> lists:reverse(L).

part(N) -> list_to_atom(lists:concat(["part_", N])).

all() -> ok.
