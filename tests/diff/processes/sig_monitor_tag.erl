%% Monitors with a tag of their own, and with an alias.
-module(sig_monitor_tag).
-export([main/0]).
main() ->
    P = spawn(fun() -> receive stop -> exit(x) end end), R = monitor(process, P, [{tag, {my, tag}}]), P ! stop, receive {{my, tag}, R, process, P, W} -> t:p(W) end,
    R2 = monitor(process, P, [{tag, 'DOWN'}]), receive {'DOWN', R2, process, P, W2} -> t:p(W2) end,
    R3 = monitor(process, self(), [{alias, explicit_unalias}]), t:p(is_reference(R3)), t:p(t:flush()),
    [t:p(A, alias(A)) || A <- [explicit_unalias, demonitor, reply_demonitor]].
alias(A) ->
    Q = spawn(fun() -> receive {R, stop} -> R ! one, R ! two, exit(done) end end), R = monitor(process, Q, [{alias, A}]), Q ! {R, stop}, M = monitor(process, Q), receive {'DOWN', M, _, _, _} -> ok end, timer:sleep(2),
    L = [case X of {'DOWN', _, _, _, W} -> {down, W}; _ -> X end || X <- t:flush()], {L, unalias(R), demonitor(R), unalias(R)}.
