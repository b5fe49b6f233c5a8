%% gen_statem with state enter calls, state functions, all returns, postponing and stopping with replies.
-module(gst_enter_calls).
-export([main/0]).
-export([init/1, callback_mode/0, a/3, b/3, c/3, terminate/3]).
main() ->
    {ok, P} = gen_statem:start({local, gst_e}, ?MODULE, self(), []),
    t:p(l()), [t:p(C, {t:plain(t:c(fun() -> gen_statem:call(P, C, 200) end)), l()}) || C <- [get, {to, b}, get, {to, b}, repeat, keep_repeat, repeat_data, {post, 1}, {to, a}, same, {data, 7}, get, several, hibernate, {to, c}, get]], gst_e ! info, gen_statem:cast(gst_e, cast),
    t:p(get_twice(P)),
    t:p(l()), R = gen_statem:send_request(P, get),
    t:p(gen_statem:wait_response(R, 500)), M = monitor(process, P),
    t:p(gen_statem:call(P, stop_reply)), receive {'DOWN', M, _, _, W} -> t:p(W) end,
    t:p(l()),
    t:p(t:c(fun() -> gen_statem:call(gst_e, x) end)), {ok, Q} = gen_statem:start(?MODULE, self(), []), l(),
    t:p(begin MQ = monitor(process, Q), {t:plain(element(1, t:c(fun() -> gen_statem:call(Q, crash) end))),
    receive {'DOWN', MQ, _, _, {X, [{Mo, _, _, _} | _]}} -> {X, Mo} end} end),
    t:p([t:plain(t:c(fun() -> gen_statem:start(?MODULE, X, []) end)) || X <- [ignore, stop, bad, badmode, {actions, [{next_event, internal, from_init}]}]]),
    t:p(l()).
get_twice(P) -> [gen_statem:call(P, get), gen_statem:call(P, get)].
l() -> receive {l, X} -> [X | l()] after 10 -> [] end.
init(ignore) -> ignore; init(stop) -> {stop, no}; init(bad) -> bad; init(badmode) -> {ok, undefined_state, x}; init({actions, A}) -> {ok, a, self(), A}; init(S) -> {ok, a, S}.
callback_mode() -> [state_functions, state_enter].
a(T, C, D) -> ev(a, T, C, D).
b(T, C, D) -> ev(b, T, C, D).
c(T, C, D) -> ev(c, T, C, D).
ev(S, enter, Old, D) -> send(D, {enter, Old, S}), keep_state_and_data;
ev(S, {call, F}, get, D) -> {keep_state, D, [{reply, F, {S, is_pid(D)}}]};
ev(_, {call, F}, {to, X}, D) -> {next_state, X, D, {reply, F, going}};
ev(_, {call, F}, repeat, D) -> {repeat_state, D, {reply, F, r}};
ev(_, {call, F}, keep_repeat, _) -> {repeat_state_and_data, [{reply, F, kr}]};
ev(_, {call, F}, repeat_data, D) -> {repeat_state, D, [{reply, F, rd}]};
ev(b, {call, _}, {post, _}, _) -> {keep_state_and_data, postpone};
ev(S, {call, F}, {post, N}, _) -> {keep_state_and_data, {reply, F, {posted, N, S}}};
ev(S, {call, F}, same, D) -> {next_state, S, D, [{reply, F, same}]};
ev(_, {call, F}, {data, _}, D) -> {keep_state, D, [{reply, F, data}]};
ev(_, {call, F}, several, _) -> gen_statem:reply([{reply, F, first}]), {keep_state_and_data, [{next_event, internal, i1}, {next_event, cast, c1}, {next_event, info, i2}]};
ev(_, {call, F}, hibernate, _) -> {keep_state_and_data, [hibernate, {reply, F, hib}]};
ev(_, {call, F}, stop_reply, D) -> {stop_and_reply, normal, [{reply, F, bye}], D};
ev(_, {call, _}, crash, _) -> error(crashed);
ev(S, T, C, D) -> send(D, {S, T, C}), keep_state_and_data.
send(D, X) when is_pid(D) -> D ! {l, X}; send(_, _) -> ok.
terminate(R, S, D) -> send(D, {terminate, case R of {X, _} -> X; X -> X end, S}).
