%% Thousands of processes: fan-out and fan-in, rings, trees, pipelines, a bank,
%% workers over a shared queue, parallel map, all results in order or summed.
-module(many_processes).
-export([main/0]).
main() ->
    t:p(lists:sum(pmap(fun(X) -> X * X end, lists:seq(1, 2000)))), t:p(ring(500, 20)), t:p(tree(10)), t:p(pipeline(20, lists:seq(1, 200))), t:p(bank(10, 3000)), t:p(workers(8, lists:seq(1, 1000))), t:p(alive(20000)), t:p(sieve(300)), t:p(mutex(20, 50)), t:p(broadcast(300)), t:p(monitors(1000)), t:p(ets_counters(20, 500)), t:p(chain_links(200)), t:p(barrier(50, 5)), t:p(length(processes()) < 100).
pmap(F, L) -> S = self(), Rs = [begin R = make_ref(), spawn(fun() -> S ! {R, F(X)} end), R end || X <- L], [receive {R, Y} -> Y end || R <- Rs].
ring(N, Laps) -> S = self(), Last = lists:foldl(fun(_, Next) -> spawn(fun() -> fwd(Next) end) end, S, lists:seq(1, N)), lap(Last, Laps, 0), Last ! stop, receive stop -> Laps * N end.
fwd(Next) -> receive stop -> Next ! stop; M -> Next ! M + 1, fwd(Next) end.
lap(_, 0, V) -> V; lap(P, N, V) -> P ! V, receive X when is_integer(X) -> lap(P, N - 1, X) end.
tree(D) -> S = self(), spawn(fun() -> node_(S, D) end), receive {sum, X} -> X end.
node_(Up, 0) -> Up ! {sum, 1};
node_(Up, D) -> S = self(), [spawn(fun() -> node_(S, D - 1) end) || _ <- [l, r]], receive {sum, A} -> receive {sum, B} -> Up ! {sum, A + B} end end.
pipeline(N, L) -> S = self(), First = lists:foldl(fun(I, Next) -> spawn(fun() -> stage(I, Next) end) end, S, lists:seq(1, N)), [First ! {item, X} || X <- L], First ! eof, lists:sum(collect()).
stage(I, Next) -> receive {item, X} -> Next ! {item, X + I}, stage(I, Next); eof -> Next ! eof end.
collect() -> receive {item, X} -> [X | collect()]; eof -> [] end.
bank(N, Ops) ->
    As = list_to_tuple([spawn(fun() -> account(100) end) || _ <- lists:seq(1, N)]), g:seed(11),
    [begin F = element(g:int(N) + 1, As), T = element(g:int(N) + 1, As), Amount = g:int(30), F ! {take, Amount, T} end || _ <- lists:seq(1, Ops)],
    timer:sleep(50), lists:sum([begin A ! {balance, self()}, receive {A, B} -> A ! stop, B end end || A <- tuple_to_list(As)]).
account(B) -> receive {take, X, To} when X =< B -> To ! {give, X}, account(B - X); {take, _, _} -> account(B); {give, X} -> account(B + X); {balance, P} -> P ! {self(), B}, account(B); stop -> ok end.
workers(N, Jobs) -> S = self(), Q = spawn(fun() -> queue(Jobs) end), [spawn(fun() -> worker(Q, S, 0) end) || _ <- lists:seq(1, N)], lists:sum([receive {done, X} -> X end || _ <- lists:seq(1, N)]).
queue([]) -> receive {next, P} -> P ! none, queue([]) after 500 -> ok end;
queue([J | Js]) -> receive {next, P} -> P ! {job, J}, queue(Js) end.
worker(Q, S, A) -> Q ! {next, self()}, receive {job, J} -> worker(Q, S, A + J * J); none -> S ! {done, A} end.
alive(N) -> S = self(), Ps = [spawn(fun() -> receive {go, X} -> S ! X end end) || _ <- lists:seq(1, N)], [P ! {go, 1} || P <- Ps], lists:sum([receive X -> X end || _ <- Ps]).
sieve(N) -> S = self(), P = spawn(fun() -> receive X -> filter(X, none, S) end end), [P ! X || X <- lists:seq(2, N)], P ! stop, receive {primes, Ps} -> length(Ps) end.
filter(P, Next, S) -> receive stop when Next =:= none -> S ! {primes, [P]}, ok; stop -> Next ! {stop, [P]}; {stop, Ps} when Next =:= none -> S ! {primes, [P | Ps]}; {stop, Ps} -> Next ! {stop, [P | Ps]}; X when X rem P =:= 0 -> filter(P, Next, S); X when Next =:= none -> filter(P, spawn(fun() -> filter(X, none, S) end), S); X -> Next ! X, filter(P, Next, S) end.
mutex(N, K) -> S = self(), M = spawn(fun Free() -> receive {lock, P} -> P ! ok, receive {unlock, P} -> Free() end; stop -> ok end end), put(c, 0), C = counters:new(1, []), [spawn(fun() -> [begin M ! {lock, self()}, receive ok -> ok end, V = counters:get(C, 1), erlang:yield(), counters:put(C, 1, V + 1), M ! {unlock, self()} end || _ <- lists:seq(1, K)], S ! fin end) || _ <- lists:seq(1, N)], [receive fin -> ok end || _ <- lists:seq(1, N)], M ! stop, counters:get(C, 1).
broadcast(N) -> S = self(), Ps = [spawn(fun() -> receive {big, B} -> S ! byte_size(B) end end) || _ <- lists:seq(1, N)], B = binary:copy(<<"y">>, 100000), [P ! {big, B} || P <- Ps], lists:sum([receive X -> X end || _ <- Ps]).
monitors(N) -> Ms = [spawn_monitor(fun() -> exit(I rem 7) end) || I <- lists:seq(1, N)], lists:sum([receive {'DOWN', R, process, P, X} -> X end || {P, R} <- Ms]).
ets_counters(N, K) -> T = ets:new(x, [public, {write_concurrency, true}]), ets:insert(T, {c, 0}), Ms = [spawn_monitor(fun() -> [ets:update_counter(T, c, 1) || _ <- lists:seq(1, K)] end) || _ <- lists:seq(1, N)], [receive {'DOWN', R, _, _, _} -> ok end || {_, R} <- Ms], ets:lookup_element(T, c, 2).
chain_links(N) -> process_flag(trap_exit, true), P = spawn_link(fun() -> cl(N) end), receive {'EXIT', P, W} -> W end.
cl(0) -> exit(end_reached); cl(N) -> process_flag(trap_exit, true), P = spawn_link(fun() -> cl(N - 1) end), receive {'EXIT', P, W} -> exit(W) end.
barrier(N, Rounds) -> S = self(), Ps = [spawn(fun() -> bar(S, Rounds) end) || _ <- lists:seq(1, N)], [begin [receive {here, _, R} -> ok end || _ <- Ps], [P ! {go, R} || P <- Ps] end || R <- lists:seq(Rounds, 1, -1)], passed.
bar(_, 0) -> ok; bar(S, R) -> S ! {here, self(), R}, receive {go, R} -> bar(S, R - 1) end.
