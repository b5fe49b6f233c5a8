%% A full collection shrinks the block of a process that has dropped most of a long list, however many collections the
%% time slice had, whoever requests it, and however much survives.
-module(full_collection_shrinks).
-export([main/0]).

main() ->
    t:p([{N, at_once(N)} || N <- [1000, 50000, 200000]]),
    [t:p({N, How, dropped(N, N div Part, How)}) ||
        N <- [10, 1000, 20000, 100000, 300000], Part <- [1000000, 200, 50], How <- [own, major, other]].

%% It is over when the call returns: no other call lies between it and the next BIF.
at_once(N) ->
    {P, M} = spawn_monitor(fun() ->
        L = lists:seq(1, N),
        Last = lists:last(L),
        garbage_collect(),
        Info = process_info(self(), garbage_collection_info),
        garbage_collect(self(), [{type, major}]),
        Words = process_info(self(), total_heap_size),
        Old = proplists:get_value(old_heap_size, element(2, Info)),
        exit({Last =:= N, Old =:= 0, element(2, Words) < 2000})
    end),
    receive {'DOWN', M, process, P, Result} -> Result end.

dropped(N, Kept, How) ->
    Me = self(),
    {P, M} = spawn_monitor(fun() -> exit(process(N, Kept, How, Me)) end),
    [begin garbage_collect(P), P ! collected end || How =:= other, ready(P)],
    receive {'DOWN', M, process, P, IsSmall} -> IsSmall end.

ready(P) -> receive {ready, P} -> true end.

process(N, Kept, How, Me) ->
    L = lists:seq(1, N),
    [garbage_collect(self(), [{type, minor}]) || _ <- [1, 2, 3, 4]],
    Part = lists:nthtail(N - Kept, L),
    collect(How, Me),
    {_, Words} = process_info(self(), total_heap_size),
    Words < 1000 + 10 * length(Part).

collect(own, _) -> garbage_collect();
collect(major, _) -> garbage_collect(self(), [{type, major}]);
collect(other, Me) -> Me ! {ready, self()}, receive collected -> ok end.
