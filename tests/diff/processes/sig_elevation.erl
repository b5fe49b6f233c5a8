%% What a process of high priority asks of one of low priority is answered, though processes in between
%% keep every scheduler busy.
-module(sig_elevation).
-export([main/0]).

main() ->
    process_flag(priority, max),
    Low = [low() || _ <- lists:seq(1, 3)],
    Busy = [spawn_opt(fun spin/0, [{priority, high}]) ||
               _ <- lists:seq(1, 2 * erlang:system_info(schedulers_online))],
    Answers = [ask(P) || P <- Low],
    [exit(B, kill) || B <- Busy],
    process_flag(priority, normal),
    [t:p(A) || A <- lists:append(Answers)].

low() ->
    Own = self(),
    P = spawn_opt(fun() -> Own ! ready, receive stop -> ok end end, [{priority, low}]),
    receive ready -> P end.
spin() -> spin().

%% A signal that is still to be handled goes before each of them.
ask(P) ->
    Before = fun() -> unlink(P), link(P), unlink(P), P ! hello end,
    Ask = fun(What, F) -> Before(), {What, catch F()} end,
    [Ask(group_leader, fun() -> group_leader(self(), P) end),
     Ask(leads, fun() -> process_info(P, group_leader) =:= {group_leader, self()} end),
     Ask(process_info, fun() -> process_info(P, [links, monitored_by, priority]) end),
     Ask(is_process_alive, fun() -> is_process_alive(P) end),
     Ask(garbage_collect, fun() -> garbage_collect(P) end),
     Ask(garbage_collect_async, fun() ->
         async = garbage_collect(P, [{async, id}]),
         receive {garbage_collect, id, R} -> R end
     end),
     Ask(check_process_code, fun() -> check_process_code(P, lists) end),
     Ask(suspend_process, fun() -> erlang:suspend_process(P) end),
     Ask(suspended, fun() -> process_info(P, status) end),
     Ask(resume_process, fun() -> erlang:resume_process(P) end),
     Ask(suspend_async, fun() ->
         true = erlang:suspend_process(P, [{asynchronous, id}]),
         receive {id, R} -> R end
     end),
     begin
         exit(P, kill),
         {killed, is_process_alive(P), process_info(P, status), garbage_collect(P)}
     end].
