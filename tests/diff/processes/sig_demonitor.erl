%% demonitor with flush and info, before and behind the message.
-module(sig_demonitor).
-export([main/0]).
main() ->
    [t:p({When, Opts}, one(When, Opts)) || When <- [before, behind, after_received, twice], Opts <- [[], [flush], [info], [flush, info]]],
    t:p(t:c(fun() -> demonitor(make_ref()) end)), P = self(), R = spawn_ref(P), t:p(t:c(fun() -> demonitor(R) end)).
spawn_ref(P) -> spawn(fun() -> P ! {r, monitor(process, P)}, receive x -> ok end end), receive {r, R} -> R end.
one(When, Opts) ->
    P = spawn(fun() -> receive stop -> ok end end), R = monitor(process, P), stop(When, P, R),
    When =:= twice andalso demonitor(R, Opts), A = demonitor(R, Opts), P ! stop, timer:sleep(2), {A, length([x || {'DOWN', _, _, _, _} <- t:flush()])}.
stop(behind, P, _) -> P ! stop, M = monitor(process, P), receive {'DOWN', M, _, _, _} -> ok end;
stop(after_received, P, R) -> P ! stop, receive {'DOWN', R, _, _, _} -> ok end; stop(_, _, _) -> ok.
