%% spawn_request with its replies and abandoning.
-module(sig_spawn_request).
-export([main/0]).
main() ->
    R1 = spawn_request(fun() -> receive stop -> ok end end), receive {spawn_reply, R1, ok, P1} -> t:p(is_pid(P1)), P1 ! stop end,
    R2 = spawn_request(fun() -> exit(x) end, [monitor, {reply_tag, tagged}]), receive {tagged, R2, ok, P2} -> receive {'DOWN', R2, process, P2, W} -> t:p(W) end end,
    R3 = spawn_request(erlang, self, [], [{reply, error_only}]), t:p({is_reference(R3), t:flush()}), _ = spawn_request(fun() -> ok end, [{reply, no}]), timer:sleep(5), t:p(t:flush()),
    R4 = spawn_request(fun() -> ok end, [{reply, success_only}, link]), receive {spawn_reply, R4, ok, _} -> t:p(ok) end, t:p(spawn_request_abandon(R4)), t:p(spawn_request_abandon(make_ref())),
    [t:p(m:outcome(erlang, F, A)) || {F, A} <- [{spawn_request, [a]}, {spawn_request, [fun() -> ok end, bad]}, {spawn_request, [1, 2, 3]}, {spawn_request_abandon, [a]}, {spawn_request, [nonode@nohost, fun() -> ok end, [bad]]}]],
    R5 = spawn_request('no@where', fun() -> ok end), receive {spawn_reply, R5, error, E} -> t:p(E) end, R6 = spawn_request(fun() -> ok end, [{min_heap_size, a}]), receive {spawn_reply, R6, error, E6} -> t:p(E6) after 50 -> t:p(nothing) end.
