%% How long time slices are: how often another process runs while one computes, and what the process
%% used in all.
-module(time_slices).
-export([main/0]).

main() ->
    {P, M} = spawn_opt(fun() -> [t:p({Name, run(F)}) || {Name, F} <- cases()] end, [monitor, {scheduler, 1}]),
    receive {'DOWN', M, process, P, Why} -> t:p(Why) end.

cases() ->
    [{loop, fun() -> loop(2_000_000) end},
     {body, fun() -> body(200_000) end},
     {funs, fun() -> funs(500_000, fun(X) -> X end) end},
     {foldl, fun() -> lists:foldl(fun(_, N) -> N + 1 end, 0, lists:seq(1, 300_000)) end},
     {map, fun() -> length(lists:map(fun(X) -> X end, lists:seq(1, 300_000))) end},
     {remote, fun() -> remote(500_000) end},
     {bifs, fun() -> bifs(500_000) end},
     {collections, fun() -> [erlang:garbage_collect() || _ <- lists:seq(1, 5)], ok end}].

loop(0) -> ok;
loop(N) -> loop(N - 1).
body(0) -> 0;
body(N) -> 1 + body(N - 1).
funs(0, _) -> ok;
funs(N, F) -> F(N), funs(N - 1, F).
remote(0) -> ok;
remote(N) -> lists:last([N]), remote(N - 1).
bifs(0) -> ok;
bifs(N) -> atom_to_list(a), bifs(N - 1).

run(F) ->
    Me = self(),
    P = spawn_opt(fun() ->
        receive go -> ok end,
        {_, A} = process_info(self(), reductions),
        F(),
        {_, B} = process_info(self(), reductions),
        Me ! {done, B - A}
    end, [{scheduler, 1}, {min_heap_size, 4_000_000}]),
    erlang:yield(),
    P ! go,
    count(0).
count(N) ->
    receive {done, Used} -> {N, Used} after 0 -> erlang:yield(), count(N + 1) end.
