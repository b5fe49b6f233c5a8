%% gen_statem: actions of every kind, in both callback modes.
-module(gst_actions).
-export([main/0]).
-behaviour(gen_statem).
-export([init/1, callback_mode/0, handle_event/4]).
main() ->
    {ok, P} = gen_statem:start(?MODULE, self(), []), receive {enter, one, one} -> ok end, [begin gen_statem:cast(P, {do, A}), t:p(A, got(A)) end || A <- [[{next_event, internal, a}], [{next_event, info, a}, {next_event, cast, b}], [{state_timeout, 5, st}], [{timeout, 5, ev}], [{{timeout, n}, 5, named}], [{{timeout, n}, infinity, x}], [{state_timeout, 5, a}, {state_timeout, cancel}], [{timeout, 0, zero}], hibernate, [postpone], [{bad, x}]], is_process_alive(P)], MM = monitor(process, P), receive {'DOWN', MM, _, _, _} -> ok end, t:p(is_process_alive(P)), t:flush(),
    {ok, Q} = gen_statem:start(?MODULE, self(), []), t:p([gen_statem:call(Q, C) || C <- [hello, keep, {go, two}, which, {go, one}, which]]), t:p(t:c(fun() -> gen_statem:call(Q, none, 10) end)), t:p([t:c(fun() -> case gen_statem:call(Q, stop, 100) of X -> X end end)]), t:p(t:c(fun() -> gen_statem:call(nobody, x) end)), t:p([t:plain(X) || X <- t:flush()]).
got(A) -> N = case A of [{next_event, _, _}, _] -> 2; [{next_event, _, _}] -> 1; [{state_timeout, _, _}] -> 1; [{timeout, _, _}] -> 1; [{{timeout, n}, 5, _}] -> 1; _ -> 0 end, E = receive {enter, _, _} = X0 -> [X0] after 0 -> [] end, E ++ [receive X when element(1, X) =/= enter -> t:plain(X) after 3000 -> none end || _ <- lists:seq(1, N)].
callback_mode() -> [handle_event_function, state_enter].
init(S) -> {ok, one, S}.
handle_event(enter, Old, New, S) -> S ! {enter, Old, New}, keep_state_and_data;
handle_event(cast, {do, A}, _, _) -> {keep_state_and_data, A};
handle_event({call, F}, which, St, _) -> {keep_state_and_data, [{reply, F, St}]}; handle_event({call, F}, {go, N}, _, D) -> {next_state, N, D, [{reply, F, went}]}; handle_event({call, F}, stop, _, _) -> {stop_and_reply, normal, [{reply, F, bye}]}; handle_event({call, _}, none, _, _) -> keep_state_and_data; handle_event({call, F}, keep, _, D) -> {keep_state, D, {reply, F, kept}}; handle_event({call, F}, X, _, _) -> {repeat_state_and_data, [{reply, F, X}]};
handle_event(T, X, _, S) -> S ! {T, X}, keep_state_and_data.
