%% Receive that looks for a fresh reference: quick however long the mailbox is,
%% right in loops, nested calls, after time-outs and when the answer is there before.
-module(receive_markers).
-export([main/0]).
main() ->
    Srv = spawn(fun Loop() -> receive {F, R, X} -> F ! {R, X * 2}, Loop(); stop -> ok end end),
    [self() ! {noise, N} || N <- lists:seq(1, 20000)],
    {T, Sum} = timer:tc(fun() -> lists:sum([call(Srv, N) || N <- lists:seq(1, 2000)]) end),
    t:p({Sum, T < 2000000}),
    t:p([mon(N) || N <- [normal, boom]]),
    t:p(nested(Srv, 3)), t:p(two(Srv)), t:p(late(Srv)), t:p(spawned()), t:p(before()), t:p(alias()),
    t:p(length([x || _ <- lists:seq(1, 20000), receive {noise, _} -> true after 0 -> false end])), t:p(t:flush()).
call(Srv, X) -> R = make_ref(), Srv ! {self(), R, X}, receive {R, Y} -> Y end.
mon(Why) -> {P, R} = spawn_monitor(fun() -> exit(Why) end), receive {'DOWN', R, process, P, W} -> W end.
nested(_, 0) -> [];
nested(Srv, N) -> R = make_ref(), Srv ! {self(), R, N}, L = nested(Srv, N - 1), receive {R, Y} -> [Y | L] end.
two(Srv) -> A = make_ref(), B = make_ref(), Srv ! {self(), B, 1}, Srv ! {self(), A, 2}, X = receive {A, V} -> V end, Y = receive {B, W} -> W end, {X, Y}.
late(Srv) ->
    R = make_ref(), Z = receive {R, _} -> early after 10 -> timeout end, Srv ! {self(), R, 21},
    {Z, receive {R, Y} -> Y after 1000 -> none end}.
spawned() ->
    S = self(), R = make_ref(), spawn(fun() -> [S ! {R, N} || N <- [1, 2, 3]] end),
    [receive {R, N} -> N end || N <- [3, 1, 2]].
before() -> R = make_ref(), self() ! {R, one}, self() ! {R, two}, A = receive {R, X} -> X end, B = receive {R, Y} -> Y end, {A, B}.
alias() -> A = erlang:alias([reply]), spawn(fun() -> A ! {A, hello}, A ! {A, again} end), X = receive {A, M} -> M end, timer:sleep(10), {X, receive {A, M2} -> M2 after 0 -> none end}.
