%% spawn in all its forms, spawn_opt's options, spawn_request.
-module(spawn_forms).
-export([main/0]).
main() ->
    S = self(), F = fun() -> S ! {here, self() =/= S} end,
    spawn(F), t:p(receive {here, X1} -> X1 end), spawn(spawn_forms_helper, nothing, []), spawn(erlang, send, [S, mfa]), t:p(receive mfa -> mfa end),
    spawn_link(F), t:p(receive {here, X2} -> X2 end), {_, M} = spawn_monitor(F), t:p(receive {here, X3} -> X3 end), t:p(receive {'DOWN', M, _, _, R} -> R end),
    P = spawn_opt(fun() -> receive go -> S ! [process_info(self(), I) || I <- [priority, min_heap_size, message_queue_data]] end end, [{priority, high}, {min_heap_size, 1000}, {message_queue_data, off_heap}]), P ! go, t:p(receive L when is_list(L) -> {element(2, hd(L)), element(2, lists:nth(2, L)) >= 1000, lists:last(L)} end),
    Ref = spawn_request(F), t:p(receive {spawn_reply, Ref, ok, Pid} -> is_pid(Pid) end), t:p(receive {here, X4} -> X4 end),
    Ref2 = spawn_request(F, [monitor, {reply_tag, mytag}]), t:p(receive {mytag, Ref2, ok, P2} -> receive {'DOWN', Ref2, process, P2, R2} -> R2 end end), t:p(t:flush()),
    Ref3 = spawn_request(F, [{reply, no}]), t:p(receive {here, X5} -> X5 end), t:p(receive {spawn_reply, Ref3, _, _} -> bad after 10 -> none end), t:p(spawn_request_abandon(Ref3)),
    [t:pc(G) || G <- [fun() -> spawn(t:id(a)) end, fun() -> spawn(fun(_) -> x end) end, fun() -> spawn(m, f, t:id(a)) end, fun() -> spawn_opt(F, [t:id(bad)]) end, fun() -> spawn_opt(F, t:id([link | a])) end, fun() -> spawn_opt(F, [{priority, t:id(x)}]) end]],
    t:p(t:flush()), t:p(length([spawn(fun() -> ok end) || _ <- lists:seq(1, 5000)])).
