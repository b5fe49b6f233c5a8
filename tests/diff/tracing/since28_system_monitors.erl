%% since 28
%% A system monitor in each trace session: options, errors, events, and its end.
-module(since28_system_monitors).
-export([main/0]).

main() ->
    options(), errors(), legacy(), queues(), heaps(), collections(), ends().

options() ->
    S = trace:session_create(s, self(), []), Other = trace:session_create(o, self(), []),
    [begin t:p({K, V}, t:c(fun() -> trace:system(S, K, V) end)), t:p(trace:info(S, system, all)) end
     || {K, V} <- [{long_gc, 10}, {long_gc, 0}, {long_schedule, 5}, {large_heap, 1}, {large_heap, 20000}, {busy_port, true}, {busy_dist_port, true},
                   {long_message_queue, {0, 1}}, {long_message_queue, {5, 10}}, {long_gc, false}, {busy_port, false}, {long_message_queue, false},
                   {large_heap, false}, {long_schedule, false}, {busy_dist_port, false}]],
    t:p(trace:info(Other, system, all)), t:p(erlang:system_monitor()),
    true = trace:session_destroy(S), true = trace:session_destroy(Other).

errors() ->
    S = trace:session_create(s, self(), []), P = spawn(fun() -> receive stop -> ok end end),
    [t:p({K, V}, t:c(fun() -> trace:system(S, K, V) end))
     || {K, V} <- [{long_gc, true}, {long_gc, -1}, {long_gc, x}, {nope, 1}, {busy_port, 1}, {busy_dist_port, x}, {long_message_queue, true},
                   {long_message_queue, {1, 1}}, {long_message_queue, {2, 1}}, {long_message_queue, {-1, 1}}, {long_message_queue, 7}, {1, 2}]],
    t:p(trace:info(S, system, all)), t:pc(fun() -> trace:info(S, system, flags) end), t:pc(fun() -> trace:system(nope, long_gc, 1) end),
    true = trace:session_destroy(S), t:pc(fun() -> trace:system(S, long_gc, 1) end), P ! stop.

legacy() ->
    [t:p(O, t:c(fun() -> erlang:system_monitor(self(), O) end))
     || O <- [[{long_gc, 5}], [busy_port, {busy_dist_port, true}], [{busy_port, false}], [{long_message_queue, {1, 3}}, {large_heap, 3}], [{long_gc, false}], [x], [{long_gc, true}], []]],
    t:p(erlang:system_monitor()), t:p(erlang:system_monitor(undefined)),
    t:pc(fun() -> erlang:system_monitor({self(), [{long_gc, 1}]}) end), t:pc(fun() -> erlang:system_monitor(undefined) end),
    t:pc(fun() -> erlang:system_monitor(nope, [busy_port]) end), t:pc(fun() -> erlang:system_monitor(x) end).

%% Two sessions with limits of their own.
queues() ->
    {S1, T1} = session(one), {S2, T2} = session(two), P = spawn(fun fetch/0),
    ok = trace:system(S1, long_message_queue, {2, 6}), ok = trace:system(S2, long_message_queue, {4, 8}),
    fill(P, 6), t:p({events(T1, 1), events(T2, 0)}), fill(P, 2), t:p({events(T1, 0), events(T2, 1)}),
    take(P, 4), t:p({events(T1, 0), events(T2, 1)}), take(P, 2), t:p({events(T1, 1), events(T2, 0)}),
    ok = trace:system(S1, long_message_queue, false), fill(P, 6), t:p({events(T1, 0), events(T2, 1)}),
    exit(P, kill), [true = trace:session_destroy(S) || S <- [S1, S2]].
fill(P, N) -> [P ! x || _ <- lists:seq(1, N)], P ! {ping, self()}, receive pong -> ok end.
take(P, N) -> P ! {take, N, self()}, receive taken -> ok end.
fetch() -> receive {ping, From} -> From ! pong; {take, N, From} -> [receive x -> ok end || _ <- lists:seq(1, N)], From ! taken end, fetch().

heaps() ->
    {S, T} = session(heap), ok = trace:system(S, large_heap, 100000),
    P = spawn(fun() -> L = lists:seq(1, 300000), erlang:garbage_collect(), receive stop -> length(L) end end),
    t:p([{W, lists:sort([K || {K, V} <- I, is_integer(V)])} || {monitor, Q, W, I} <- lists:usort(fun(_, _) -> true end, events(T, 1)), Q =:= P]),
    exit(P, kill), true = trace:session_destroy(S).

%% A collection of some megabytes of live data takes longer than no time at all.
collections() ->
    erts_debug:set_internal_state(available_internal_state, true),
    {S, T} = session(gc), ok = trace:system(S, long_gc, 1), erts_debug:set_internal_state(test_long_gc_sleep, 50),
    P = spawn(fun() -> erlang:garbage_collect(), receive stop -> ok end end),
    [{monitor, Q, long_gc, I} | _] = events(T, 1), t:p({P =:= Q, lists:sort([K || {K, _} <- I])}),
    erts_debug:set_internal_state(test_long_gc_sleep, 0), exit(P, kill), true = trace:session_destroy(S).

%% Without its tracer a session monitors nothing.
ends() ->
    {S, T} = session(gone), ok = trace:system(S, long_message_queue, {1, 2}), M = monitor(process, T), exit(T, kill), receive {'DOWN', M, _, _, _} -> ok end,
    P = spawn(fun fetch/0), fill(P, 5), exit(P, kill), t:p(trace:session_destroy(S)).

session(Name) ->
    Me = self(), T = spawn(fun() -> forward(Me) end), {trace:session_create(Name, T, []), T}.
forward(To) -> receive M -> To ! {self(), M} end, forward(To).
events(_, 0) -> [];
events(T, N) -> receive {T, {monitor, _, W, I}} when W =:= long_message_queue -> [{W, I} | events(T, N - 1)]; {T, M} -> [M | events(T, N - 1)] after 5000 -> [missing] end.
