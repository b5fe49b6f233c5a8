%% Many processes read tables, by name and by reference, while others change rows in place, insert,
%% delete, rename, give away and delete whole tables. A row is never seen half changed, and a name
%% leads to its table or to none.
-module(ets_readers_writers).
-export([main/0]).

-define(KEYS, 50).

main() ->
    [t:p({Kind, Named, rows(Kind, Named)}) || Kind <- [set, ordered_set, bag], Named <- [true, false]],
    t:p(renamed()),
    t:p(come_and_go()),
    t:p(calm_and_busy()).

%% Each row is {Key, N, N, Text of N}; a writer makes them anew, a second one by update_element.
rows(Kind, Named) ->
    Opts = [Kind, public | [named_table || Named]],
    T = ets:new(rows, Opts),
    [ets:insert(T, row(K, 0)) || K <- lists:seq(1, ?KEYS)],
    Readers = [spawn_monitor(fun() -> exit(read(T, 3000, 0)) end) || _ <- lists:seq(1, 6)],
    Writer = spawn_monitor(fun() -> exit(write(Kind, T, 2000)) end),
    Results = [receive {'DOWN', R, process, P, Why} -> Why end || {P, R} <- [Writer | Readers]],
    Size = ets:info(T, size),
    ets:delete(T),
    {Size, lists:usort(Results)}.

row(K, N) -> {K, N, N, <<N:64>>}.

read(_, 0, Wrong) -> {wrong, Wrong};
read(T, N, Wrong) ->
    K = N rem ?KEYS + 1,
    Good = case ets:lookup(T, K) of
               [{K, A, A, <<A:64>>}] -> true;
               [] -> true;
               _ -> false
           end,
    N rem 97 =:= 0 andalso erlang:yield(),
    read(T, N - 1, if Good -> Wrong; true -> Wrong + 1 end).

write(_, _, 0) -> {wrong, 0};
write(bag, T, N) ->
    K = N rem ?KEYS + 1,
    ets:delete(T, K),
    ets:insert(T, row(K, N)),
    write(bag, T, N - 1);
write(Kind, T, N) ->
    K = N rem ?KEYS + 1,
    case N rem 3 of
        0 -> ets:insert(T, row(K, N));
        1 -> ets:update_element(T, K, [{2, N}, {3, N}, {4, <<N:64>>}]);
        2 -> ets:take(T, K), ets:insert(T, row(K, N bsl 40))
    end,
    write(Kind, T, N - 1).

%% One of the names is the table's at any time.
renamed() ->
    here = ets:new(here, [named_table, public]),
    ets:insert(here, {key, 1}),
    Readers = [spawn_monitor(fun() -> exit(by_either(2000)) end) || _ <- lists:seq(1, 4)],
    [begin ets:rename(here, there), ets:rename(there, here) end || _ <- lists:seq(1, 1000)],
    Results = [receive {'DOWN', R, process, P, Why} -> Why end || {P, R} <- Readers],
    {ets:whereis(there), ets:lookup(here, key), ets:delete(here), lists:usort(Results)}.

by_either(0) -> done;
by_either(N) ->
    [case catch ets:lookup(Name, key) of
         [{key, 1}] -> ok;
         {'EXIT', {badarg, _}} -> ok;
         Other -> exit({unexpected, Other})
     end || Name <- [here, there]],
    by_either(N - 1).

%% Tables of one name that end while others look them up: those see a table of its maker, or none.
come_and_go() ->
    Readers = [spawn_monitor(fun() -> exit(any_maker(2000)) end) || _ <- lists:seq(1, 4)],
    [begin
         {P, R} = spawn_monitor(fun() ->
                                        short = ets:new(short, [named_table]),
                                        ets:insert(short, {owner, self()}),
                                        I rem 2 =:= 0 andalso ets:delete(short)
                                end),
         receive {'DOWN', R, process, P, normal} -> ok end
     end || I <- lists:seq(1, 500)],
    Results = [receive {'DOWN', R, process, P, Why} -> Why end || {P, R} <- Readers],
    {ets:whereis(short), lists:usort(Results)}.

any_maker(0) -> done;
any_maker(N) ->
    case catch ets:lookup(short, owner) of
        [{owner, P}] when is_pid(P) -> ok;
        [] -> ok;
        {'EXIT', {badarg, _}} -> ok;
        Other -> exit({unexpected, Other})
    end,
    any_maker(N - 1).

%% Reads for long, then writes, and again: what was written last is what is read.
calm_and_busy() ->
    T = ets:new(calm, [public, {read_concurrency, true}]),
    ets:insert(T, {n, 0}),
    Self = self(),
    Others = [spawn_link(fun() -> follow(Self, T) end) || _ <- lists:seq(1, 3)],
    Result = [begin
                  [P ! {read, 3000, N} || P <- Others],
                  Seen = [receive {P, S} -> S end || P <- Others],
                  N2 = ets:update_counter(T, n, 1),
                  {Seen, N2}
              end || N <- lists:seq(0, 9)],
    [begin unlink(P), exit(P, kill) end || P <- Others],
    Result =:= [{[N, N, N], N + 1} || N <- lists:seq(0, 9)].

follow(To, T) ->
    receive
        {read, Times, N} ->
            All = lists:usort([ets:lookup_element(T, n, 2) || _ <- lists:seq(1, Times)]),
            To ! {self(), case All of [N] -> N; _ -> {read, All, instead, N} end},
            follow(To, T)
    end.
