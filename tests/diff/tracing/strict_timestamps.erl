%% strict_monotonic_timestamp: the second number is a unique monotonic integer.
-module(strict_timestamps).
-export([main/0]).
main() ->
    Me = self(),
    Last = fun Last(L) -> receive {trace_ts, _, send, _, _, {_, M}} -> Last([M | L]); {tell, F} -> F ! lists:reverse(L) end end,
    T = spawn(fun() -> Last([]) end),
    Before = erlang:unique_integer([monotonic]),
    erlang:trace(Me, true, [send, strict_monotonic_timestamp, {tracer, T}]), Me ! a,
    Between = erlang:unique_integer([monotonic]), Me ! b, erlang:trace(Me, false, [all]),
    After = erlang:unique_integer([monotonic]),
    R = erlang:trace_delivered(Me), receive {trace_delivered, Me, R} -> ok end,
    T ! {tell, Me}, [A, B] = receive L when is_list(L) -> L end,
    t:p([A - Before, Between - Before, B - Before, After - Before]).
