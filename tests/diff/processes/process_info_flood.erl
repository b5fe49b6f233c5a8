%% process_info/2 of oneself answers although signals come faster than a process of low priority can
%% handle them: only those that came before the call count.
-module(process_info_flood).
-export([main/0]).

main() ->
    Online = erlang:system_flag(schedulers_online, 1),
    t:p([asks(self()) || _ <- [1, 2, 3]]),
    erlang:system_flag(schedulers_online, Online).

asks(Self) ->
    Flooder = spawn_link(fun() -> flood(Self) end),
    Ref = make_ref(),
    process_flag(priority, low),
    receive after 10 -> ok end,
    Self ! Ref,
    {messages, Messages} = process_info(Self, messages),
    receive Ref -> ok end,
    process_flag(priority, high),
    unlink(Flooder),
    exit(Flooder, kill),
    {Messages =:= [Ref], is_process_alive(Flooder)}.

flood(To) ->
    erlang:demonitor(erlang:monitor(process, To)),
    flood(To).
