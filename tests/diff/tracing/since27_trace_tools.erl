%% since 27
%% Tools that trace in sessions: dbg's own sessions, and tprof.
-module(since27_trace_tools).
-export([main/0]).
-export([work/1, inner/1, alloc/1]).

main() ->
    dbg_sessions(), dbg_default(), counts(), times(), memory().

dbg_sessions() ->
    Me = self(),
    Handler = {fun(M, N) -> Me ! {event, N, M}, N + 1 end, 0},
    S1 = dbg:session_create(first), S2 = dbg:session_create(second),
    dbg:session(S1, fun() ->
        {ok, _} = dbg:tracer(process, Handler), {ok, _} = dbg:p(Me, [c]), {ok, _} = dbg:tpl(?MODULE, inner, 1, x) end),
    dbg:session(S2, fun() ->
        {ok, _} = dbg:tracer(process, Handler), {ok, _} = dbg:p(Me, [c, arity]), {ok, _} = dbg:tp(?MODULE, work, 1, []) end),
    ?MODULE:work(3),
    t:p(lists:sort(events(3))),
    dbg:session_destroy(S1),
    ?MODULE:work(4),
    t:p(events(1)),
    dbg:session_destroy(S2),
    ?MODULE:work(5),
    t:p(t:flush()).
dbg_default() ->
    Me = self(),
    {ok, _} = dbg:tracer(process, {fun(M, _) -> Me ! {event, 0, M} end, ok}),
    {ok, [_]} = dbg:p(self(), [c]),
    {ok, [{matched, _, 1}, {saved, cx}]} = dbg:tpl(?MODULE, inner, 1, cx),
    ?MODULE:work(1),
    t:p(events(2)),
    {ok, _} = dbg:ctpl(?MODULE, inner, 1),
    ?MODULE:work(1), dbg:stop(),
    t:p(t:flush()).
events(0) -> [];
events(N) -> receive {event, _, M} -> [t:plain(M) | events(N - 1)] after 5000 -> missing end.

counts() ->
    {_, {call_count, L}} = profile(call_count, 10),
    t:p(lists:sort([{F, A, [C || {_, C, _} <- Cs]} || {?MODULE, F, A, Cs} <- L])).
times() ->
    {_, {call_time, L}} = profile(call_time, 10),
    t:p(lists:sort([{F, A, [C || {_, C, _} <- Cs]} || {?MODULE, F, A, Cs} <- L])).
memory() ->
    {_, {call_memory, L}} = profile(call_memory, 10),
    t:p(lists:sort([{F, A, [{C, W} || {_, C, W} <- Cs]} || {?MODULE, F, A, Cs} <- L])).
profile(Type, N) ->
    tprof:profile(?MODULE, alloc, [N], #{type => Type, report => return, pattern => {?MODULE, '_', '_'}}).

work(N) -> {inner(N)}.
inner(N) -> [N].
alloc(0) -> [];
alloc(N) -> [inner({N}) | alloc(N - 1)].
