%% Calls in gen_server's style: a long mailbox, markers, monitors.
-module(receive_calls).
-export([main/0]).
main() ->
    S = spawn(fun() -> server(0) end), [self() ! {junk, I} || I <- lists:seq(1, 2000)],
    t:p([call(S, {add, I}) || I <- lists:seq(1, 20)]), t:p(lists:last([call(S, {add, 1}) || _ <- lists:seq(1, 3000)])), t:p(call(S, get)), t:p(call(S, stop)), t:p(call(S, get)),
    t:p(length(t:flush())), t:pc(fun() -> call(noone, get) end),
    Parent = self(), Ws = [spawn(fun() -> Parent ! {self(), I * I} end) || I <- lists:seq(1, 100)], t:p(lists:sum([receive {W, V} -> V end || W <- Ws])).
call(S, Req) ->
    try erlang:monitor(process, S) of Ref ->
        S ! {call, {self(), Ref}, Req},
        receive {Ref, Reply} -> erlang:demonitor(Ref, [flush]), Reply; {'DOWN', Ref, _, _, Why} -> {down, Why} after 5000 -> timeout end
    catch error:E -> {error, E} end.
server(N) ->
    receive {call, {P, R}, {add, I}} -> P ! {R, N + I}, server(N + I); {call, {P, R}, get} -> P ! {R, N}, server(N); {call, {P, R}, stop} -> P ! {R, stopped} end.
