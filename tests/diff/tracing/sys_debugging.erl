%% sys: tracing and logging of a server, statistics, installed functions, suspended
%% and changed code, states of the behaviours, special processes by hand.
-module(sys_debugging).
-behaviour(gen_server).
-export([main/0, init/1, handle_call/3, handle_cast/2, special/1, system_continue/3, system_terminate/4, system_code_change/4, system_get_state/1, system_replace_state/2]).
main() ->
    {ok, P} = gen_server:start(?MODULE, [], []), ok = sys:statistics(P, true), ok = sys:log(P, true), [gen_server:call(P, {add, N}) || N <- [1, 2, 3]], gen_server:cast(P, reset), gen_server:call(P, {add, 5}),
    {ok, St} = sys:statistics(P, get), t:p([X || X = {K, _} <- St, lists:member(K, [messages_in, messages_out])]), {ok, L} = sys:log(P, get), t:p([t:plain(E) || E <- L]), t:p(sys:log(P, {true, 2})), gen_server:call(P, {add, 1}), {ok, L2} = sys:log(P, get), t:p(length(L2)), t:p(sys:log(P, false)), t:p(sys:statistics(P, false)), t:p(sys:no_debug(P)),
    S = self(), ok = sys:install(P, {fun(N, {in, _}, _) -> S ! {seen, N}, N + 1; (N, _, _) -> N end, 0}), [gen_server:call(P, {add, 1}) || _ <- [1, 2]], t:p(t:flush()), ok = sys:install(P, {my_id, fun(_, _, _) -> done end, x}), gen_server:call(P, {add, 1}), t:p([N || {seen, N} <- t:flush()]), ok = sys:remove(P, my_id), t:p(sys:get_state(P)), t:p(sys:replace_state(P, fun(N) -> N * 10 end)),
    Q = proc_lib:spawn(?MODULE, special, [S]), t:p(sys:get_state(Q)), t:p(sys:replace_state(Q, fun(N) -> N + 1 end)), Q ! {S, ping}, t:p(receive {pong, N2} -> N2 end), sys:suspend(Q), Q ! {S, ping}, t:p(receive {pong, _} -> early after 20 -> suspended end), t:p(sys:change_code(Q, ?MODULE, v0, extra)), sys:resume(Q), t:p(receive {pong, N3} -> N3 end), {status, _, {module, M}, [_, running, Par, Dbg, Misc]} = sys:get_status(Q), t:p({M, Par =:= S, Dbg, Misc}), R = monitor(process, Q), t:p(sys:terminate(Q, enough)), t:p(receive {'DOWN', R, _, _, W} -> W end),
    t:p(t:c(fun() -> sys:get_state(P, 0) end) =/= x), t:p(element(1, t:c(fun() -> sys:get_state(no_one) end))), t:p(t:c(fun() -> sys:suspend(spawn(fun() -> receive x -> ok end end), 20) end) =/= x), D = sys:debug_options([{log, 3}, trace, statistics]), t:p(length(D)), D2 = sys:handle_debug(sys:debug_options([{log, 5}]), fun(_, E, X) -> S ! {E, X} end, name, {in, msg}), t:p([E || {E, _} <- sys:get_log(D2)] =/= x), t:p(sys:get_log(D2)).
init([]) -> {ok, 0}.
handle_call({add, N}, _, S) -> {reply, S + N, S + N}.
handle_cast(reset, _) -> {noreply, 0}.
special(Parent) -> sloop(Parent, sys:debug_options([]), 100).
sloop(Parent, D, N) -> receive {system, F, R} -> sys:handle_system_msg(R, F, Parent, ?MODULE, D, N); {P, ping} -> P ! {pong, N}, sloop(Parent, D, N) end.
system_continue(P, D, N) -> sloop(P, D, N).
system_terminate(W, _, _, _) -> exit({terminated, W}).
system_code_change(N, _, Old, Extra) -> self() ! {none, {Old, Extra}}, {ok, N + 1000}.
system_get_state(N) -> {ok, N}.
system_replace_state(F, N) -> M = F(N), {ok, M, M}.
