%% ets:match_spec_run/2 of lists that take several turns: how many there are, and what comes of improper ones.
-module(match_spec_run_long).
-export([main/0]).

main() ->
    MS = ets:match_spec_compile([{{'$1', '$2'}, [{'>', '$1', 5}], ['$2']}]),
    [t:p({N, sum(ets:match_spec_run([{I, -I} || I <- lists:seq(1, N)], MS))})
     || N <- [0, 1, 3999, 4000, 4001, 8000, 8001, 100_000]],
    L = [{I, I} || I <- lists:seq(1, 10_000)],
    t:p(class(fun() -> ets:match_spec_run(L ++ tail, MS) end)),
    t:p(length(ets:match_spec_run(L ++ [a, {1}, {9, 9}], MS))),
    [t:p({N, turns(MS, N)}) || N <- [3000, 9000, 41_000]].

sum(L) -> {length(L), lists:sum(L)}.
class(F) -> try F() catch C:R -> {C, R} end.

%% How often another process of the same scheduler runs meanwhile.
turns(MS, N) ->
    Me = self(),
    L = [{I, I} || I <- lists:seq(1, N)],
    Opts = [{scheduler, 1}, {min_heap_size, 3_000_000}],
    spawn_opt(fun() ->
        Count = spawn_opt(fun() -> count(0) end, [{scheduler, 1}]),
        Count ! {begins, self()},
        receive begun -> ok end,
        erlang:yield(),
        ets:match_spec_run(L, MS),
        Count ! {ends, Me}
    end, Opts),
    receive {turns, T} -> T end.
count(N) ->
    receive
        {begins, From} -> From ! begun, erlang:yield(), count(0);
        {ends, To} -> To ! {turns, N}
    after 0 -> erlang:yield(), count(N + 1)
    end.
