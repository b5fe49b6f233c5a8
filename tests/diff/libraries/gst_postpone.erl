%% gen_statem: postponed events come back after a change of state, in their order.
-module(gst_postpone).
-export([main/0]).
-export([init/1, callback_mode/0, closed/3, open/3]).
main() -> {ok, P} = gen_statem:start(?MODULE, self(), []), [gen_statem:cast(P, {m, I}) || I <- [1, 2, 3]], gen_statem:cast(P, open), gen_statem:cast(P, {m, 4}), t:p([receive X -> X after 100 -> none end || _ <- [1, 2, 3, 4]]), gen_statem:cast(P, close), gen_statem:cast(P, {m, 5}), t:p(receive X -> X after 20 -> none end), t:p(element(1, sys:get_state(P))), gen_statem:cast(P, open), t:p(receive Y -> Y after 100 -> none end), t:p(gen_statem:call(P, count)), P ! info, t:p(receive Z -> Z after 100 -> none end), gen_statem:stop(P), t:p(is_process_alive(P)), {ok, Q} = gen_statem:start(?MODULE, self(), []), M = monitor(process, Q), gen_statem:cast(Q, unknown), receive {'DOWN', M, _, _, {R, _}} -> t:p(R) end.
callback_mode() -> state_functions. init(S) -> {ok, closed, {S, 0}}.
closed(cast, {m, _}, _) -> {keep_state_and_data, postpone}; closed(cast, open, D) -> {next_state, open, D}; closed(info, X, {S, _}) -> S ! {closed, X}, keep_state_and_data.
open(cast, {m, I}, {S, N}) -> S ! {got, I}, {keep_state, {S, N + 1}}; open(cast, close, D) -> {next_state, closed, D}; open({call, F}, count, {_, N}) -> {keep_state_and_data, {reply, F, N}}; open(info, X, {S, _}) -> S ! {open, X}, keep_state_and_data.
