%% Atomics and counters.
-module(mx_atomics).
-export([main/0]).
-export([on/3, on/4, on/5, cn/3, cn/4]).
main() ->
    m:f(atomics, new, [[0, 1, -1, a, 1 bsl 70], [[], [{signed, true}], [{signed, false}], [{signed, a}], [bad], bad, [{signed, true} | a]]]), m:f(counters, new, [[0, 1, -1, a], [[], [atomics], [write_concurrency], [bad], bad]]),
    S = atomics:new(3, []), U = atomics:new(3, [{signed, false}]), C = counters:new(3, []), W = counters:new(3, [write_concurrency]),
    Is = [1, 3, 0, 4, -1, a], Vs = [5, -5, (1 bsl 63) - 1, 1 bsl 63, (1 bsl 64) - 1, 1 bsl 64, -(1 bsl 63), -(1 bsl 63) - 1, 1.0, a],
    [m:f(?MODULE, on, [[F], [{s, S}, {u, U}, {none, make_ref()}, {a, a}], Is, Vs]) || F <- [put, add, add_get, sub, sub_get, exchange]],
    [m:f(?MODULE, on, [[F], [{s, S}, {u, U}, {a, a}], Is]) || F <- [get]], m:f(?MODULE, on, [[compare_exchange], [{s, S}, {u, U}], [1, 9], Vs, Vs]),
    [m:f(?MODULE, cn, [[F], [{c, C}, {w, W}, {none, make_ref()}, {a, a}, {s, S}], Is, Vs]) || F <- [put, add, sub]], [m:f(?MODULE, cn, [[get], [{c, C}, {w, W}, {s, S}], Is])],
    t:p([atomics:info(X) || X <- [S, U]]), t:p(maps:remove(memory, counters:info(W))), t:p(m:outcome(counters, info, [S])), t:p(m:outcome(atomics, info, [a])).
on(F, {_, R}, I) -> m:outcome(atomics, F, [R, I]).
on(F, {_, R}, I, V) -> m:outcome(atomics, F, [R, I, V]).
on(F, {_, R}, I, V, X) -> m:outcome(atomics, F, [R, I, V, X]).
cn(F, {_, R}, I) -> m:outcome(counters, F, [R, I]).
cn(F, {_, R}, I, V) -> m:outcome(counters, F, [R, I, V]).
