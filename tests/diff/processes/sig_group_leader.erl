%% Changing group leaders, one's own and another's.
-module(sig_group_leader).
-export([main/0]).
main() ->
    G = group_leader(), P = spawn(fun L() -> receive {get, F} -> F ! {gl, group_leader()}, L() end end), Q = spawn(fun() -> receive stop -> ok end end),
    true = group_leader(Q, P), P ! {get, self()}, receive {gl, X} -> t:p(X =:= Q) end, t:p(process_info(P, group_leader) =:= {group_leader, Q}),
    group_leader(Q, self()), C = spawn(fun() -> receive {get, F} -> F ! {gl, group_leader()} end end), C ! {get, self()}, Y1 = receive {gl, Y} -> Y =:= Q end, group_leader(G, self()), t:p(Y1),
    Q ! stop, M = monitor(process, Q), receive {'DOWN', M, _, _, _} -> ok end, [t:p(m:outcome(erlang, group_leader, A)) || A <- [[G, Q], [a, self()], [G, a], [self(), nobody]]].
