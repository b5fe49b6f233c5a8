%% Timers with every argument.
-module(mx_timers).
-export([main/0]).
main() ->
    Ts = [0, 5000, -1, 1 bsl 32, 1 bsl 63, 1 bsl 70, a, 1.0],
    m:f(erlang, start_timer, [Ts, [nobody, a, 1, "x"], [m]]), m:f(erlang, send_after, [Ts, [nobody, 1, {a, b}], [m]]), m:fs(erlang, [start_timer, send_after], [[5000, 1 bsl 60, -9223372036854775808], [nobody], [m], [[], [{abs, true}], [{abs, false}], [{abs, a}], [bad], bad, [{abs, true} | a]]]),
    m:fs(erlang, [cancel_timer, read_timer], [[make_ref(), a, 1]]), m:f(erlang, cancel_timer, [[make_ref(), a], [[], [{async, true}], [{info, false}], [{async, true}, {info, false}], [{async, a}], [bad], bad]]), m:f(erlang, read_timer, [[make_ref(), a], [[{async, false}], [bad], bad]]), timer:sleep(5), t:p(t:flush()),
    m:fs(timer, [seconds, minutes, hours], [[0, 1, -1, 1.5, a]]), m:f(timer, hms, [[0, 1, a], [0, 1], [0, 59]]), m:f(timer, sleep, [[0, -1, a]]), m:fs(timer, [send_after], [[-1, a], [m]]), m:f(timer, apply_after, [[-1, a, 0], [m, 1], [f], [[], a]]), m:f(timer, cancel, [[a, {a, b}, make_ref()]]).
