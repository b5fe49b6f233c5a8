%% The module dbg: processes, patterns, its own specifications, handlers and ends.
-module(trace_dbg).
-export([main/0]).
-export([work/1]).
main() ->
    S = self(), {ok, D} = dbg:tracer(process, {fun(M, N) -> S ! {traced, N, t:plain(M)}, N + 1 end, 0}),
    t:p(is_pid(D)),
    t:p(dbg:tracer() =/= ok),
    t:p(element(1, dbg:get_tracer())), P = spawn(fun loop/0),
    t:p(t:plain(dbg:p(P, [c, s, r, timestamp]))),
    t:p(dbg:p(P, [bad_flag])),
    t:p(t:plain(dbg:p(P, [clear]))), {ok, _} = dbg:p(P, [call, send]),
    [t:p(A, t:plain(apply(dbg, F, A))) || {F, A} <- [{tpl, [?MODULE, work, 1, []]}, {tp, [?MODULE, work, x]}, {tp, [?MODULE, work, 1, cx]}, {tpl, [?MODULE, work, '_', [{['$1'], [{'>', '$1', 3}], [{return_trace}]}]]}, {ctpl, [?MODULE, nope, 1]}, {tp, [nomod, '_', []]}, {tp, [?MODULE, work, 1, [{bad}]]}]],
    P ! {work, 5}, P ! {work, 1}, timer:sleep(30),
    t:p(t:flush()),
    t:p(dbg:ctp(?MODULE)), P ! {work, 2}, timer:sleep(30),
    t:p(t:flush()),
    t:p(dbg:wtp("none") =/= x),
    t:p(dbg:rtp("/nope/x")),
    t:p(t:c(fun() -> dbg:dtp(99) end)),
    t:p(dbg:stop_clear()),
    t:p(dbg:p(P, [c])),
    t:pc(fun() -> dbg:tracer(bad, x) end), exit(P, kill).
loop() -> receive {work, N} -> work(N), loop() end.
work(0) -> done;
work(N) when N rem 2 =:= 0 -> self() ! ignored, receive ignored -> ok end, {even, work(N - 1)};
work(N) -> {odd, work(N - 1)}.
