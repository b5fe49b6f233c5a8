%% Large binaries that have become old and are dead make the next collection a full one: a process that gets big
%% replies one after another, and has little garbage else, does not keep them. What is in use stays.
-module(old_binaries).
-export([main/0]).

-define(BYTES, 4_000_000).

main() ->
    [t:p({How, N, in_process(fun() -> most(How, N) =< 3 end)}) || How <- [asked, replies], N <- [1, 2, 30]],
    t:p({kept, in_process(fun kept/0)}),
    t:p({gathered, in_process(fun gathered/0)}).

in_process(F) ->
    {P, M} = spawn_monitor(fun() -> exit(F()) end),
    receive {'DOWN', M, process, P, Result} -> Result end.

%% The most binaries of that size that the process holds after a round
most(How, N) ->
    Server = spawn_link(fun serve/0),
    Most = lists:max([begin one(How, Server), held() end || _ <- lists:seq(1, N)]),
    unlink(Server),
    exit(Server, kill),
    Most.

one(asked, _) -> old(binary:copy(<<7>>, ?BYTES));
one(replies, Server) ->
    Server ! {self(), ?BYTES},
    old(receive {Server, B} -> B end).

old(B) ->
    [minor() || _ <- [1, 2]],
    byte_size(B).

serve() ->
    receive {From, N} -> From ! {self(), binary:copy(<<7>>, N)} end,
    garbage_collect(),
    serve().

minor() -> garbage_collect(self(), [{type, minor}]).

held() ->
    minor(),
    {_, Bs} = process_info(self(), binary),
    length([B || {_, ?BYTES, _} = B <- Bs]).

kept() ->
    Bs = [binary:copy(<<X>>, ?BYTES) || X <- lists:seq(1, 10)],
    [old(binary:copy(<<7>>, ?BYTES)) || _ <- lists:seq(1, 30)],
    [{byte_size(B), binary:first(B), binary:last(B)} || B <- Bs].

gathered() ->
    Bs = lists:foldl(fun(X, All) -> minor(), [binary:copy(<<X:16>>, 50_000) | All] end, [], lists:seq(1, 300)),
    lists:sum([X || <<X:16, _/binary>> <- Bs]).
