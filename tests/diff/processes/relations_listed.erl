%% The order in which links and suspended processes are listed: that of OTP's trees, which depends on what
%% came and went.
-module(relations_listed).
-export([main/0]).

main() ->
    [t:p({N, listed(N, [])}) || N <- lists:seq(1, 20)],
    [t:p({N, listed(N, lists:seq(1, N, 3))}) || N <- lists:seq(1, 40, 3)].

%% So many links and suspensions; some of those are taken back.
listed(N, Gone) ->
    Self = self(),
    spawn(fun () ->
        Pids = [spawn_link(fun () -> receive stop -> ok end end) || _ <- lists:seq(1, N)],
        [erlang:suspend_process(P) || P <- Pids],
        [erlang:resume_process(lists:nth(I, Pids)) || I <- Gone],
        {links, Links} = process_info(self(), links),
        {suspending, Suspending} = process_info(self(), suspending),
        Self ! {[place(P, Pids) || P <- Links], [place(P, Pids) || {P, _, _} <- Suspending]}
    end),
    receive Listed -> Listed end.

place(P, Pids) -> length(lists:takewhile(fun (Q) -> Q =/= P end, Pids)).
