%% return_to, exceptions, actions of specifications, silence, arity, calls of natives.
-module(trace_returns).
-export([main/0]).
-export([f/1]).
main() ->
    P = spawn(fun loop/0), T = fun(Fl) -> erlang:trace(P, true, Fl) end, Off = fun() -> erlang:trace(P, false, [all]), erlang:trace_pattern({'_', '_', '_'}, false, [local]), erlang:trace_pattern({'_', '_', '_'}, false, []) end,
    run(P, fun() -> ready end), T([call, return_to]), erlang:trace_pattern({?MODULE, '_', '_'}, true, [local]),
    t:p(run(P, fun() -> f(2) end)), Off(), T([call]), erlang:trace_pattern({?MODULE, f, 1}, [{'_', [], [{exception_trace}]}], [local]),
    t:p(run(P, fun() -> f(2) end)),
    t:p(run(P, fun() -> catch f(bad) end)),
    t:p(run(P, fun() -> try f(thr) catch throw:_ -> ok end end)), Off(),
    [begin T([call]),
    t:p(M, {t:c(fun() -> erlang:trace_pattern({?MODULE, f, 1}, M, [local]) end), run(P, fun() -> f(1) end)}), Off() end || M <- [[{['$1'], [], [{message, {{'$1', '$_', '$$'}}}]}], [{'_', [], [{message, false}]}], [{'_', [], [{message, true}]}], [{'_', [], [{caller}]}], [{'_', [], [{message, {caller}}]}], [{'_', [], [{silent, true}]}], [{[1], [], []}], [{[0], [], [{return_trace}]}], [{'_', [{'=:=', {self}, nobody}], []}], [{'_', [], [{disable_trace, call}]}], [{'_', [], [{trace, [call], [return_to]}]}], [{'_', [], [{enable_trace, arity}]}], [{'_', [], [{message, {{hd, '$_'}}}]}], [{'_', [], [{message, {hd, '$$'}}]}], [{['$1', '$2'], [], []}, {'_', [], [{message, second}]}]]],
    T([call, arity]), erlang:trace_pattern({?MODULE, f, 1}, true, [local]),
    t:p(run(P, fun() -> f(1) end)), Off(), T([call, silent]), erlang:trace_pattern({?MODULE, f, 1}, true, [local]),
    t:p(run(P, fun() -> f(1) end)), Off(), T([call]), [t:p(X, erlang:trace_pattern(X, [{'_', [], [{return_trace}]}], [])) || X <- [{lists, seq, 2}, {erlang, abs, 1}, {erlang, '+', 2}, {maps, get, 2}, {lists, nope, '_'}, {?MODULE, f, 1}]],
    t:p(run(P, fun() -> [lists:seq(1, 2), erlang:abs(t:id(-1)), erlang:'+'(t:id(1), 2), maps:get(a, #{a => t:id(b)}), apply(erlang, t:id(abs), [-2])] end)),
    t:p(run(P, fun() -> catch maps:get(b, t:id(#{})) end)),
    t:p(run(P, fun() -> ?MODULE:f(1) end)), Off(), exit(P, kill).
loop() -> receive {F, R} -> R ! {ran, catch F()}, loop() end.
run(P, F) -> P ! {F, self()},
    receive {ran, _} -> ok end, R = erlang:trace_delivered(P),
    receive {trace_delivered, P, R} -> ok end, [case t:plain(M) of {trace, pid, exception_from, A, {C, B}} -> {exc, A, C, B}; X -> X end || M <- t:flush()].
f(0) -> [];
f(bad) -> error(bad);
f(thr) -> throw(ball);
f(N) -> [g(N) | f(N - 1)].
g(N) -> N * 2.
