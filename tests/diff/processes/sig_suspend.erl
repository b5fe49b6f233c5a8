%% Suspending: counted, asynchronous, unless suspending, by one who dies.
-module(sig_suspend).
-export([main/0]).
main() ->
    P = spawn(fun L() -> receive {ping, F} -> F ! pong, L() end end),
    t:p(erlang:suspend_process(P)), t:p(erlang:suspend_process(P)), t:p(erlang:suspend_process(P, [unless_suspending])), P ! {ping, self()}, t:p(wait()), erlang:resume_process(P), t:p(wait()), erlang:resume_process(P), t:p(wait()),
    t:p(m:outcome(erlang, resume_process, [P])), t:p(erlang:suspend_process(P, [asynchronous])), P ! {ping, self()}, t:p(wait()), t:p(process_info(P, status)), erlang:resume_process(P), t:p(wait()),
    {Q, M} = spawn_monitor(fun() -> erlang:suspend_process(P) end), receive {'DOWN', M, _, Q, R} -> t:p(R) end, P ! {ping, self()}, t:p(wait()),
    [t:p(m:outcome(erlang, suspend_process, A)) || A <- [[self()], [Q], [P, [bad]], [P, bad], [a]]], t:p(erlang:suspend_process(P, [{asynchronous, hello}])), receive hello -> t:p(suspended) after 1000 -> t:p(none) end, exit(P, kill).
wait() -> receive pong -> pong after 20 -> nothing end.
