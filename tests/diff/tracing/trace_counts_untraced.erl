-module(trace_counts_untraced).
-export([main/0, counted/1, both/1, timed/1, reported/1]).

%% A function with a breakpoint is called by processes that are traced for calls and by others: what is
%% counted, and what is reported, while the settings change.
main() ->
    Self = self(),
    Other = spawn(fun() -> serve() end),
    set(counted, true, [call_count]),
    set(both, true, [local, call_count]),
    set(timed, true, [local, call_count, call_time]),
    set(reported, true, [local]),
    rounds(Other, nobody_traced),
    erlang:trace(Other, true, [call]),
    rounds(Other, other_traced),
    set(both, pause, [call_count]),
    rounds(Other, paused),
    set(both, restart, [call_count]),
    set(counted, [{[5], [], []}], [local]),
    rounds(Other, restarted),
    set(counted, false, [local]),
    set(counted, true, [meta]),
    rounds(Other, meta),
    set(counted, false, [meta]),
    set(both, false, [call_count]),
    erlang:trace(Other, false, [call]),
    rounds(Other, untraced_again),
    erlang:trace(Self, true, [call, {tracer, Other}]),
    [F(1) || F <- functions()],
    erlang:trace(Self, false, [call]),
    call(Other, fun() -> t:p({seen_by_other, length(all(fun(X) -> is_tuple(X) end))}) end),
    t:p({counters, counters()}),
    [erlang:trace_pattern({?MODULE, '_', '_'}, false, [K]) || K <- [local, meta, call_count, call_time]],
    t:p({after_all, counters()}).

set(F, How, Kinds) -> erlang:trace_pattern({?MODULE, F, 1}, How, Kinds).

functions() -> [fun ?MODULE:counted/1, fun ?MODULE:both/1, fun ?MODULE:timed/1, fun ?MODULE:reported/1].
counted(N) -> N.
both(N) -> N + 1.
timed(N) -> N + 2.
reported(N) -> N + 3.

rounds(Other, Name) ->
    [F(N) || N <- lists:seq(1, 7), F <- functions()],
    call(Other, fun() -> [F(N) || N <- lists:seq(1, 4), F <- functions()] end),
    erlang:trace_delivered(all),
    receive {trace_delivered, all, _} -> ok end,
    Events = all(fun(X) -> element(1, X) =:= trace end),
    t:p({Name, counters(), [{F, A} || {trace, _, call, {_, F, A}} <- Events]}).

counters() ->
    [{F, element(2, erlang:trace_info({?MODULE, F, 1}, call_count)), calls(erlang:trace_info({?MODULE, F, 1}, call_time))}
     || F <- [counted, both, timed, reported]].
calls({call_time, Times}) when is_list(Times) -> lists:sort([N || {_, N, _, _} <- Times]);
calls({call_time, No}) -> No.

serve() -> receive {P, F} -> F(), P ! {done, self()}, serve() end.
call(P, F) -> P ! {self(), F}, receive {done, P} -> ok end.

all(Like) -> receive X -> case Like(X) of true -> [X | all(Like)]; false -> all(Like) end after 0 -> [] end.
