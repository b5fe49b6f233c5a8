%% sys: state, status, suspending, replacing, changing code, debugging, statistics, logs.
-module(sys_requests).
-export([main/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, code_change/3]).
main() ->
    {ok, P} = gen_server:start({local, sys_p}, ?MODULE, 0, []),
    t:p(sys:get_state(P)),
    t:p(sys:replace_state(P, fun(S) -> S + 10 end)),
    t:p(t:plain(element(1, t:c(fun() -> sys:replace_state(P, fun(_) -> error(x) end) end)))),
    t:p(gen_server:call(P, inc)),
    t:p(sys:suspend(P)),
    t:pc(fun() -> element(1, gen_server:call(P, inc, 10)) end),
    t:p(sys:change_code(P, ?MODULE, old, extra)),
    t:p(sys:get_state(P)),
    t:p(sys:resume(P)), timer:sleep(5),
    t:p(sys:get_state(P)),
    t:p(sys:log(P, true)), gen_server:call(P, inc), gen_server:cast(P, inc), P ! hello, {ok, L} = sys:log(P, get),
    t:p([ev(X) || X <- L]),
    t:p(sys:log(P, {true, 2})), gen_server:call(P, inc), {ok, L2} = sys:log(P, get),
    t:p(length(L2)),
    t:p(sys:log(P, false)),
    t:p(sys:statistics(P, true)), gen_server:call(P, inc), {ok, St} = sys:statistics(P, get),
    t:p([{K, is_integer(V) andalso K =/= reductions andalso V} || {K, V} <- St, K =/= start_time, K =/= current_time]),
    t:p(sys:statistics(P, false)),
    t:p(sys:statistics(P, get)), Me = self(),
    t:p(sys:install(P, {fun(F, Ev, _) -> Me ! {seen, ev(Ev)}, F end, st})), gen_server:call(P, inc),
    t:p(t:plain(t:flush())),
    t:p(sys:install(P, {id1, fun(_, Ev, _) -> Me ! {id1, ev(Ev)}, done end, st})), gen_server:call(P, inc), gen_server:call(P, inc),
    t:p(length(t:flush())),
    t:p(sys:no_debug(P)), gen_server:call(P, inc),
    t:p(t:flush()), {status, _, {module, gen_server}, [D, running, Parent, Dbg, Misc]} = sys:get_status(P),
    t:p({length(D), is_pid(Parent), Dbg, [element(1, X) || X <- Misc]}), MP = monitor(process, P),
    t:p(sys:terminate(P, bye)), receive {'DOWN', MP, _, _, Down} -> t:p(Down) end,
    t:pc(fun() -> sys:get_state(sys_p) end),
    t:pc(fun() -> sys:suspend(sys_p, 10) end),
    t:p(sys:get_debug(statistics, [], none)),
    t:p(sys:debug_options([trace, log]) =/= []),
    t:p(sys:debug_options([])),
    t:p(t:plain(sys:handle_debug([], fun(_, _, _) -> x end, st, ev))).
ev({in, {'$gen_call', _, X}}) -> {in_call, X}; ev({in, X}) -> {in, X}; ev({out, X, T, S}) -> {out, X, t:plain(element(1, {T})) =/= x, S}; ev({noreply, S}) -> {noreply, S}; ev(X) -> element(1, X).
init(S) -> {ok, S}.
handle_call(inc, _, S) -> {reply, S, S + 1}.
handle_cast(inc, S) -> {noreply, S + 1}.
handle_info(_, S) -> {noreply, S}.
code_change(old, S, extra) -> {ok, S * 100}.
