%% Time slices of a process that hibernates begin and end in erlang:hibernate/3.
-module(hibernate_turns).
-export([main/0, woken/0]).

main() ->
    [begin
        P = spawn(fun() -> receive go -> ok end, F(), erlang:hibernate(?MODULE, woken, []) end),
        waits(P),
        1 = erlang:trace(P, true, [running, exiting]),
        P ! go,
        waits(P),
        P ! wake,
        M = monitor(process, P),
        receive {'DOWN', M, process, P, R} -> t:p(R) end,
        T = erlang:trace_delivered(P),
        receive {trace_delivered, P, T} -> ok end,
        t:p({Name, [{Tag, {Mo, Fu, A}} || {trace, _, Tag, {Mo, Fu, A}} <- t:flush(), hd(atom_to_list(Fu)) =/= $-]})
     end || {Name, F} <- [{alone, fun() -> ok end}, {with_message, fun() -> self() ! early end}]].

woken() -> receive wake -> done end.

waits(P) ->
    case process_info(P, status) of
        {status, waiting} -> ok;
        _ -> erlang:yield(), waits(P)
    end.
