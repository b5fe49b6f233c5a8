%% Hibernating: what is left of stack, dictionary, catches and messages.
-module(sig_hibernate).
-export([main/0]).
-export([woken/2]).
main() ->
    S = self(), P = spawn(fun() -> put(k, v), process_flag(trap_exit, true), try erlang:hibernate(?MODULE, woken, [S, lists:seq(1, 3)]) catch _:_ -> S ! caught end end), timer:sleep(5),
    t:p(process_info(P, current_function)), t:p(process_info(P, message_queue_len)), P ! {hi, make_ref()}, receive X -> t:p(X) end, M = monitor(process, P), receive {'DOWN', M, _, _, R} -> t:p(R) end,
    Q = spawn(fun() -> self() ! already, erlang:hibernate(?MODULE, woken, [S, []]) end), receive Y -> t:p(Y) end, t:p(is_pid(Q)),
    {O, M2} = spawn_monitor(fun() -> erlang:hibernate(?MODULE, no_such, []) end), O ! x, receive {'DOWN', M2, _, _, {undef, [{A, B, C, _} | _]}} -> t:p({A, B, C}) end, [t:p(m:outcome(erlang, hibernate, L)) || L <- [[1, a, []], [a, 1, []], [a, b, c], [a, b, [c | d]]]].
woken(S, L) -> receive M -> S ! {woken, M, L, get(k), process_info(self(), trap_exit)} end.
