%% Programs that answer each line may run where they might before, whatever is done to have them
%% answer sooner: what they start, what they are told, and they themselves when they have nothing to do.
-module(port_places).
-export([main/0]).

main() ->
    Sh = open_port({spawn_executable, "/bin/sh"}, [{line, 1000}]),
    talk(Sh, "echo x\n", 400),
    t:p({processors, lists:usort([processors(Sh) || _ <- lists:seq(1, 20)]) =:= [trim(os:cmd("nproc"))]}),
    t:p({started, lists:usort([started(Sh) || _ <- lists:seq(1, 20)])}),
    port_close(Sh),
    Cat = open_port({spawn, "cat"}, [{line, 1000}]),
    talk(Cat, "x\n", 400),
    t:p({silent, wait_for(fun() -> allowed(os_pid(Cat)) =:= own() end)}),
    talk(Cat, "x\n", 400),
    %% Its scheduler is at work.
    t:p({busy, wait_for(fun() -> lists:sum(lists:seq(1, 100000)), allowed(os_pid(Cat)) =:= own() end)}),
    %% Several lines under way.
    talk(Cat, "x\n", 400),
    [port_command(Cat, "x\n") || _ <- lists:seq(1, 10)],
    t:p({several, wait_for(fun() -> allowed(os_pid(Cat)) =:= own() end)}),
    [answer(Cat, "x") || _ <- lists:seq(1, 10)],
    port_close(Cat),
    t:p({self, allowed(os:getpid()) =:= own()}).

%% As many processors as its program is told, in the middle of a conversation.
processors(Sh) ->
    port_command(Sh, "nproc\n"),
    N = receive {Sh, {data, {eol, L}}} -> L end,
    talk(Sh, "echo x\n", 100),
    N.
%% May what it starts run where we may?
started(Sh) ->
    port_command(Sh, "sleep 20 >/dev/null & echo $!\n"),
    Pid = receive {Sh, {data, {eol, L}}} -> L end,
    talk(Sh, "echo x\n", 100),
    Same = allowed(Pid) =:= own(),
    os:cmd("kill " ++ Pid),
    Same.

talk(P, Line, N) -> [begin port_command(P, Line), answer(P, "x") end || _ <- lists:seq(1, N)].
answer(P, Line) -> receive {P, {data, {eol, Line}}} -> ok after 20000 -> none end.

os_pid(P) -> {os_pid, N} = erlang:port_info(P, os_pid), integer_to_list(N).
own() -> allowed("self").
allowed(Pid) -> trim(os:cmd("grep Cpus_allowed: /proc/" ++ Pid ++ "/status")).
trim(S) -> string:trim(S).

wait_for(F) -> wait_for(F, 500).
wait_for(_, 0) -> timeout;
wait_for(F, N) -> case F() of true -> true; _ -> timer:sleep(20), wait_for(F, N - 1) end.
