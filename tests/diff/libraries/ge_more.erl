%% gen_event: handlers that swap, fail, go, sleep; supervised ones; calls and notifications in order.
-module(ge_more).
-export([main/0]).
-export([init/1, handle_event/2, handle_call/2, handle_info/2, terminate/2]).
main() ->
    process_flag(trap_exit, true), {ok, E} = gen_event:start_link(), S = self(),
    t:p([gen_event:add_handler(E, {?MODULE, I}, {S, I}) || I <- [a, b]]),
    t:p(gen_event:add_handler(E, {?MODULE, a}, {S, a})),
    t:p(t:plain(gen_event:add_handler(E, {?MODULE, x}, fail))),
    t:p(t:plain(gen_event:add_handler(E, no_such_mod, x))),
    t:p(gen_event:which_handlers(E)), gen_event:notify(E, one),
    t:p(gen_event:sync_notify(E, two)), E ! info,
    t:p(gen_event:call(E, {?MODULE, a}, q)),
    t:p(l()),
    t:p(gen_event:call(E, nobody, q)),
    t:p(short(gen_event:call(E, {?MODULE, b}, crash))),
    t:p(l()),
    t:p(gen_event:which_handlers(E)),
    t:p(gen_event:swap_handler(E, {{?MODULE, a}, why}, {{?MODULE, c}, {S, c}})),
    t:p(l()),
    t:p(gen_event:add_sup_handler(E, {?MODULE, s}, {S, s})),
    t:p(gen_event:sync_notify(E, remove_s)),
    t:p(l()),
    t:p(gen_event:delete_handler(E, {?MODULE, c}, args)),
    t:p(gen_event:delete_handler(E, {?MODULE, c}, args)),
    t:p(l()),
    t:p(gen_event:add_sup_handler(E, {?MODULE, t}, {S, t})), gen_event:sync_notify(E, crash_t),
    t:p(l()),
    t:p(gen_event:add_handler(E, {?MODULE, h}, {S, h})), gen_event:sync_notify(E, hibernate), timer:sleep(10),
    t:p(process_info(E, current_function)),
    t:p(gen_event:call(E, {?MODULE, h}, q)), R = gen_event:send_request(E, {?MODULE, h}, q),
    t:p(gen_event:wait_response(R, 500)),
    t:p(gen_event:stop(E)),
    t:p(l()),
    t:pc(fun() -> gen_event:notify(gone_event, x) end),
    t:pc(fun() -> gen_event:call(gone_event, h, x) end),
    t:pc(fun() -> gen_event:sync_notify(gone_event, x) end).
short({error, {'EXIT', {R, _}}}) -> {exited, R}; short(X) -> X.
l() ->
    receive {l, X} -> [X | l()]; {gen_event_EXIT, H, {'EXIT', {R, _}}} -> [{ge_exit, H, R} | l()]; {gen_event_EXIT, H, R} -> [{ge_exit, H, R} | l()]; {'EXIT', _, R} -> [{exit, R} | l()] after 10 -> [] end.
init(fail) -> {error, no}; init({{S, I}, Old}) -> S ! {l, {init, I, Old}}, {ok, {S, I}}; init({S, I}) -> {ok, {S, I}}.
handle_event(remove_s, {_, s}) -> remove_handler; handle_event(crash_t, {_, t}) -> error(t_crash); handle_event(hibernate, St) -> {ok, St, hibernate}; handle_event(E, {S, I} = St) -> S ! {l, {I, E}}, {ok, St}.
handle_call(crash, _) -> error(call_crash); handle_call(q, {_, I} = St) -> {ok, {answer, I}, St}.
handle_info(M, {S, I} = St) -> S ! {l, {I, info, M}}, {ok, St}.
terminate(R, {S, I}) -> S ! {l, {I, terminate, case R of {error, {'EXIT', {X, _}}} -> {error, X}; X -> X end}}, gone.
