%% Bad options of timers and monitors, and which argument is judged first.
-module(bad_options).
-export([main/0]).

main() ->
    R = make_ref(),
    [call(F, A)
     || {F, A} <- [{start_timer, [1, self(), x, 0]},
                   {start_timer, [1, self(), x, [a]]},
                   {start_timer, [1, self(), x, [{abs, a}]]},
                   {start_timer, [a, self(), x, [{abs, a}]]},
                   {send_after, [1, self(), x, [a | b]]},
                   {send_after, [1, self(), x, [{abs, true} | b]]},
                   {cancel_timer, [R, 0]},
                   {cancel_timer, [R, [{async, a}]]},
                   {cancel_timer, [R, [{async, true} | x]]},
                   {cancel_timer, [x, []]},
                   {cancel_timer, [x, x]},
                   {read_timer, [R, [{async, a}]]},
                   {read_timer, [R, x]},
                   {read_timer, [x, x]},
                   {demonitor, [R, 0]},
                   {demonitor, [R, [info, a]]},
                   {demonitor, [R, [flush | a]]},
                   {demonitor, [x, [flush | a]]},
                   {monitor, [process, self(), [a]]},
                   {monitor_node, [a, true, x]},
                   {monitor_node, [a, true, [x]]},
                   {monitor_node, [a, b, []]},
                   {monitor_node, [a, b, [x]]},
                   {monitor_node, [a, b]},
                   {monitor_node, [1, true, []]},
                   {monitor_node, [1, true]},
                   {monitor_node, [a, true, [allow_passive_connect | x]]},
                   {monitor_node, [nonode@nohost, b]},
                   {send, [self(), x, [a]]},
                   {send, [self(), x, a]},
                   {dt_spread_tag, [true]},
                   {dt_spread_tag, [false]},
                   {dt_spread_tag, [x]}]],
    ok.

call(F, A) ->
    X = try apply(erlang, F, A) catch _:E:St -> {E, element(4, hd(St))} end,
    io:format("~w/~w ~0p~n", [F, length(A), hide(X)]).

hide(R) when is_reference(R) -> ref;
hide(X) -> X.
