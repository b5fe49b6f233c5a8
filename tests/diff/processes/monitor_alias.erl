%% Aliases: creation, sending, removal, reply_demonitor.
-module(monitor_alias).
-export([main/0]).
main() ->
    A = alias(), A ! hello, t:p(t:flush()), t:p(unalias(A)), t:p(unalias(A)), A ! lost, t:p(t:flush()),
    B = alias([reply]), B ! one, B ! two, timer:sleep(5), t:p(t:flush()),
    C = alias([explicit_unalias]), C ! one, C ! two, t:p(t:flush()), t:p(unalias(C)),
    S = spawn(fun Loop() -> receive {req, From, X} -> From ! {From, X * 2}, Loop(); stop -> ok end end),
    M1 = monitor(process, S, [{alias, reply_demonitor}]), S ! {req, M1, 21}, t:p(receive {M1, V} -> V end), t:p(demonitor(M1, [info])),
    M2 = monitor(process, S, [{alias, demonitor}]), S ! {req, M2, 1}, t:p(receive {M2, V2} -> V2 end), S ! {req, M2, 2}, t:p(receive {M2, V3} -> V3 end), t:p(demonitor(M2, [info])), S ! {req, M2, 3}, timer:sleep(10), t:p(t:flush()),
    M3 = monitor(process, S, [{alias, explicit_unalias}]), S ! stop, t:p(receive {'DOWN', M3, _, _, R} -> R end), M3 ! still, t:p(receive still -> alive after 100 -> dead end), t:p(unalias(M3)),
    M4 = monitor(process, self(), [{tag, 'GONE'}]), demonitor(M4), {P5, M5} = spawn_opt(fun() -> exit(q) end, [{monitor, [{tag, {my, tag}}]}]), t:p(receive {{my, tag}, M5, process, P5, Q} -> Q end), t:pc(fun() -> alias([t:id(x)]) end).
