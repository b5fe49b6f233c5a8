%% The module timer: intervals, cancels, applies, exits, tc.
-module(timer_module).
-export([main/0]).
main() ->
    process_flag(trap_exit, true), S = self(), {ok, R} = timer:send_interval(3, tick),
    t:p([receive tick -> t after 2000 -> none end || _ <- [1, 2, 3]]),
    t:p(timer:cancel(R)), timer:sleep(10), t:flush(), timer:sleep(10),
    t:p(t:flush()), {ok, _} = timer:apply_after(1, erlang, send, [S, applied]),
    receive applied -> t:p(applied) end, {ok, I} = timer:apply_interval(2, erlang, send, [S, again]),
    t:p([receive again -> a after 2000 -> none end || _ <- [1, 2]]), timer:cancel(I), t:flush(), P = spawn_link(fun() -> receive x -> ok end end), {ok, _} = timer:exit_after(1, P, bye),
    receive {'EXIT', P, W} -> t:p(W) end, Q = spawn_link(fun() -> receive x -> ok end end), {ok, _} = timer:kill_after(1, Q),
    receive {'EXIT', Q, W2} -> t:p(W2) end, {ok, T} = timer:send_after(100000, never),
    t:p(timer:cancel(T)),
    t:p(timer:cancel(T)),
    t:p(timer:cancel(bad)), {Us, V} = timer:tc(fun(X) -> X * 2 end, [21]),
    t:p({is_integer(Us), V}), {_, V2} = timer:tc(lists, reverse, [[1, 2]]),
    t:p(V2),
    t:p(timer:now_diff({1, 2, 3}, {0, 1, 2})),
    t:p([timer:send_after(X, y) || X <- [-1, a, 1.5]]),
    t:p(timer:apply_after(5, bad, 1, x)),
    t:p(timer:exit_after(1, nobody_here, x) =/= y), {ok, O} = timer:send_interval(5, P, x),
    t:p(is_tuple(O)),
    t:p([timer:hms(1, 2, 3), timer:seconds(2), timer:minutes(2), timer:hours(2)]).
