%% gen_statem: state functions, enter calls, postponed events, timeouts of all
%% kinds, internal events, replies.
-module(behaviour_statem).
-behaviour(gen_statem).
-export([main/0, callback_mode/0, init/1, idle/3, busy/3, done/3, terminate/3]).
main() ->
    process_flag(trap_exit, true),
    {ok, P} = gen_statem:start_link(?MODULE, self(), []),
    t:p(gen_statem:call(P, where)),
    gen_statem:cast(P, {work, a}), gen_statem:cast(P, {work, b}), gen_statem:cast(P, {work, c}),
    t:p(gen_statem:call(P, finish)), t:p(gen_statem:call(P, finish)), t:p(gen_statem:call(P, where)),
    t:p(gen_statem:call(P, finish)), t:p(gen_statem:call(P, where)),
    t:p(said()),
    gen_statem:cast(P, {state_timeout, 10}), t:p(receive M -> M end),
    gen_statem:cast(P, {event_timeout, 10}), t:p(receive M1 -> M1 end),
    gen_statem:cast(P, {named_timeout, 10}), t:p(receive M2 -> M2 end),
    gen_statem:cast(P, {named_timeout, 5000}), gen_statem:cast(P, cancel), gen_statem:cast(P, {event_timeout, 5000}), gen_statem:cast(P, nothing),
    P ! info, t:p(gen_statem:call(P, where)), t:p(said()),
    gen_statem:cast(P, internal), t:p(gen_statem:call(P, where)), t:p(said()),
    R = gen_statem:send_request(P, where), t:p(gen_statem:wait_response(R)),
    t:pc(fun() -> gen_statem:call(P, ignored, 20) end),
    t:p(sys:get_state(P)),
    gen_statem:cast(P, to_done), t:p(gen_statem:call(P, where)), t:p(said()),
    t:p(gen_statem:call(P, stop)), receive {'EXIT', P, W} -> t:p(exit, W) end, t:p(said()),
    t:pc(fun() -> gen_statem:call(P, where) end),
    t:p(gen_statem:start(?MODULE, bad, [])).

said() -> receive {'EXIT', _, _} = E -> self() ! E, []; M -> [M | said()] after 30 -> [] end.

callback_mode() -> [state_functions, state_enter].
init(bad) -> {stop, bad_start};
init(To) -> {ok, idle, #{to => To, n => 0}}.

idle(enter, Old, D) -> say({idle, from, Old}, D), keep_state_and_data;
idle(cast, {work, X}, D) -> {next_state, busy, D#{job => X}};
idle(cast, {state_timeout, T}, _) -> {keep_state_and_data, [{state_timeout, T, st}]};
idle(cast, {event_timeout, T}, _) -> {keep_state_and_data, [T]};
idle(cast, {named_timeout, T}, _) -> {keep_state_and_data, [{{timeout, name}, T, named}]};
idle(cast, cancel, _) -> {keep_state_and_data, [{{timeout, name}, cancel}]};
idle(cast, nothing, _) -> keep_state_and_data;
idle(cast, internal, D) -> {keep_state, D, [{next_event, internal, one}, {next_event, internal, two}, {next_event, cast, nothing}]};
idle(cast, to_done, D) -> {next_state, done, D};
idle(internal, X, D) -> say({internal, X}, D), keep_state_and_data;
idle(state_timeout, X, D) -> say({state_timeout, X}, D), keep_state_and_data;
idle(timeout, X, D) -> say({event_timeout, X}, D), keep_state_and_data;
idle({timeout, N}, X, D) -> say({named, N, X}, D), keep_state_and_data;
idle({call, _}, finish, _) -> {keep_state_and_data, [postpone]};
idle({call, _}, ignored, _) -> keep_state_and_data;
idle({call, F}, where, #{n := N}) -> {keep_state_and_data, [{reply, F, {idle, N}}]};
idle(info, M, D) -> say({info, M}, D), keep_state_and_data.

busy(enter, Old, #{job := J} = D) -> say({busy, from, Old, J}, D), {keep_state, D#{n := maps:get(n, D) + 1}};
busy(cast, {work, _}, _) -> {keep_state_and_data, [postpone]};
busy({call, F}, finish, #{job := J} = D) -> {next_state, idle, D, [{reply, F, {finished, J}}]};
busy({call, F}, where, #{n := N}) -> {keep_state_and_data, [{reply, F, {busy, N}}]}.

done(enter, _, D) -> {keep_state, D, [hibernate]};
done({call, F}, where, D) -> {repeat_state, D, [{reply, F, done}]};
done({call, F}, stop, D) -> {stop_and_reply, {shutdown, over}, [{reply, F, bye}], D#{last => true}}.

say(X, #{to := To}) -> To ! X.
terminate(Why, State, D) -> say({terminate, Why, State, maps:get(last, D)}, D).
