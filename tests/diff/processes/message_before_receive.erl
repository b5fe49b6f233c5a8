-module(message_before_receive).
-export([main/0, wake/2]).
%% The one message that has come before anybody asks for it: what looks at messages without a
%% receive finds it, and its place among those that come later stays the first.
main() ->
    self() ! one,
    t:p(process_info(self(), [message_queue_len, messages])),
    self() ! two,
    t:p(receive two -> two end),
    t:p(process_info(self(), messages)),
    t:p(receive X -> X after 0 -> none end),
    %% A monitor's message, flushed before it was looked at.
    {P, M} = spawn_monitor(fun() -> receive stop -> ok end end),
    exit(P, kill),
    until(fun() -> process_info(self(), message_queue_len) =:= {message_queue_len, 1} end),
    t:p(demonitor(M, [flush])),
    t:p(process_info(self(), messages)),
    %% A further call finds its own answer behind what was there.
    self() ! {early, 1},
    erlang:yield(),
    R = make_ref(),
    self() ! {R, late},
    t:p(receive {R, Y} -> Y end),
    self() ! {early, 2},
    t:p([receive {early, N} -> N end || _ <- [1, 2]]),
    %% Hibernating with a message that came just before.
    S = self(),
    H = spawn(fun() -> receive go -> ok end, erlang:hibernate(?MODULE, wake, [S, [hib]]) end),
    H ! go, H ! {woken, "text", 3.5},
    t:p(receive {H, Z} -> Z end),
    %% Time: nothing matches, then the message is still there.
    self() ! kept,
    t:p(receive never -> never after 5 -> timeout end),
    t:p(receive Kept -> Kept after 0 -> gone end),
    %% Exit signals of two links, one while the other's message waits.
    process_flag(trap_exit, true),
    A = spawn_link(fun() -> receive stop -> exit(a) end end),
    B = spawn_link(fun() -> receive stop -> exit({b, [1.5, <<"bin">>]}) end end),
    A ! stop,
    t:p(receive {'EXIT', A, Ra} -> Ra end),
    B ! stop,
    until(fun() -> not is_process_alive(B) end),
    self() ! after_b,
    t:p([receive {'EXIT', B, Rb} -> Rb; O -> O end || _ <- [1, 2]]),
    %% Collected while it waits to be looked at.
    self() ! {big, lists:seq(1, 10)},
    erlang:garbage_collect(),
    t:p(length([[I] || I <- lists:seq(1, 20000)])),
    t:p(receive {big, L} -> L end),
    %% Suspended with its only message unread.
    D = spawn(fun() -> receive {S, Q} -> S ! {got, Q} end end),
    erlang:suspend_process(D),
    D ! {S, 7},
    t:p(process_info(D, messages) =:= {messages, [{S, 7}]}),
    erlang:resume_process(D),
    t:p(receive {got, G} -> G end),
    t:p(process_info(self(), messages)).

wake(S, [hib]) ->
    receive M -> S ! {self(), M} end.

until(F) ->
    case F() of
        true -> ok;
        false -> receive after 1 -> until(F) end
    end.
