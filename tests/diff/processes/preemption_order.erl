%% Where processes that compute are preempted, on one scheduler: how many results each sends in a row.
-module(preemption_order).
-export([main/0, inc/1]).

main() ->
    {P, M} = spawn_opt(fun all/0, [monitor, {scheduler, 1}]),
    receive {'DOWN', M, process, P, Why} -> t:p(Why) end.

all() ->
    [t:p({Kinds, run(Kinds)})
     || Kinds <- [[K, K] || K <- kinds()] ++ [[returns, foldl, map], [self_sends, throws, applies], kinds()]].

kinds() -> [returns, foldl, map, tail_bif, self_sends, throws, applies, timeouts].

work(returns, I) -> returns(300 + I);
work(foldl, I) -> lists:foldl(fun(X, A) -> X + A end, 0, lists:seq(1, 200 + I));
work(map, I) -> length(lists:map(fun(X) -> integer_to_list(X) end, lists:seq(1, 100 + I)));
work(tail_bif, I) -> length([tail_bif(X) || X <- lists:seq(1, 100 + I)]);
work(self_sends, I) -> [self() ! X || X <- lists:seq(1, 50 + I)], take(50 + I);
work(throws, I) -> [catch throw(X) || X <- lists:seq(1, 90 + I)];
work(applies, I) -> [?MODULE:inc(apply(?MODULE, inc, [X])) || X <- lists:seq(1, 90 + I)];
work(timeouts, I) -> [receive none -> ok after 0 -> ok end || _ <- lists:seq(1, 60 + I)].

returns(0) -> 0;
returns(N) -> 1 + returns(N - 1).

tail_bif(X) -> integer_to_list(X).

take(0) -> ok;
take(N) -> receive _ -> take(N - 1) end.

inc(X) -> X + 1.

run(Kinds) ->
    S = self(),
    Numbered = lists:enumerate(Kinds),
    Work = fun(N, K) -> receive go -> ok end, [begin work(K, I rem 17), S ! N end || I <- lists:seq(1, 60)], S ! done end,
    Pids = [spawn_opt(fun() -> Work(N, K) end, [{scheduler, 1}, {min_heap_size, 200000}]) || {N, K} <- Numbered],
    [P ! go || P <- Pids],
    rows(collect(length(Pids), [])).

collect(0, L) -> lists:reverse(L);
collect(N, L) -> receive done -> collect(N - 1, L); M -> collect(N, [M | L]) end.

rows([]) -> [];
rows([N | _] = L) ->
    {Same, Rest} = lists:splitwith(fun(M) -> M =:= N end, L),
    [{N, length(Same)} | rows(Rest)].
