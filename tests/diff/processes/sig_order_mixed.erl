%% Messages, exit signals and downs of one sender arrive in its order.
-module(sig_order_mixed).
-export([main/0]).
main() ->
    process_flag(trap_exit, true), S = self(),
    [begin P = spawn_link(fun() -> receive go -> [S ! {m, I} || I <- lists:seq(1, 20)], exit({end_of, N}) end end), R = monitor(process, P), P ! go, t:p(take(P, R, [])) end || N <- lists:seq(1, 5)],
    Q = spawn(fun() -> [begin exit(S, {sig, I}), S ! {msg, I} end || I <- lists:seq(1, 10)] end), M = monitor(process, Q), t:p(until(M, [])).
take(P, R, Acc) -> receive {m, I} -> take(P, R, [I | Acc]); {'EXIT', P, W} -> take(P, R, [{exit, W} | Acc]); {'DOWN', R, _, _, W} -> case lists:keymember(exit, 1, Acc) of true -> {length(Acc), lists:sort(Acc)}; false -> receive {'EXIT', P, W} -> {length(Acc) + 1, lists:sort([{exit, W} | Acc])} end end end.
until(M, Acc) -> receive {'DOWN', M, _, _, _} -> lists:reverse(Acc); {'EXIT', _, R} -> until(M, [R | Acc]); X -> until(M, [X | Acc]) end.
