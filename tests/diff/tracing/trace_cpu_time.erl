%% The trace flag cpu_timestamp: only of all processes and ports; stamps count processor time then.
-module(trace_cpu_time).
-export([main/0, f/0]).

f() -> ok.

main() ->
    [t:pc(fun() -> erlang:trace(W, B, [cpu_timestamp]) end)
     || W <- [new, existing, processes, ports], B <- [true, false]],
    {'EXIT', {badarg, _}} = (catch erlang:trace(self(), true, [cpu_timestamp])),
    t:p(erlang:trace(all, true, [cpu_timestamp]) >= 0),
    T = stamp(),
    t:p(T < 3600 * 1000000),
    erlang:trace(all, false, [cpu_timestamp]),
    t:p(stamp() > 365 * 24 * 3600 * 1000000),
    t:p(erlang:trace_info(self(), flags)).

stamp() ->
    S = self(),
    P = spawn(fun() -> receive go -> f() end, receive stop -> ok end end),
    erlang:trace_pattern({?MODULE, f, 0}, true, [local]),
    erlang:trace(P, true, [call, timestamp, {tracer, S}]),
    P ! go,
    receive {trace_ts, P, call, {?MODULE, f, []}, {A, B, C}} -> P ! stop, (A * 1000000 + B) * 1000000 + C end.
