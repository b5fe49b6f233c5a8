%% OTP's `observer_backend`, `etop`, `appmon_info` and `system_information` as they are.
-module(tool_observer).
-export([main/0]).
-include_lib("runtime_tools/include/observer_backend.hrl").

main() ->
    Info = observer_backend:sys_info(),
    t:p({sys_info, [K || {K, _} <- Info] }),
    t:p({types, [K || {K, V} <- Info, is_integer(V), V < 0]}),
    #{schedulers := S, otp_release := R, version := V, wordsize_internal := W} = maps:from_list(Info),
    t:p({S =:= erlang:system_info(schedulers), R, V, W}),
    Port = open_port({spawn, "cat"}, []),
    t:p({ports, [[{K, X} || {K, X} <- P, K =:= name orelse K =:= input orelse K =:= output]
                 || P <- observer_backend:get_port_list(), lists:member({port_id, Port}, P)]}),
    port_close(Port),
    Name = ets:new(observed, [named_table, public]),
    ets:insert(Name, [{N} || N <- lists:seq(1, 10)]),
    Tables = observer_backend:get_table_list(ets, [{sys_hidden, true}, {unread_hidden, false}]),
    t:p({tables, [[{K, X} || {K, X} <- T, lists:member(K, [name, protection, size, keypos])]
                  || T <- Tables, lists:member({name, Name}, T)]}),
    t:p({rows, begin observer_backend:get_table(self(), Name, ets), rows() end}),
    t:p({procs, procs()}),
    t:p({etop, etop()}),
    t:p({appmon, appmon()}),
    t:p({report, [K || {K, _} <- system_information:report()]}).

rows() ->
    receive
        {_, '$end_of_table'} -> [];
        {_, Rows} when is_list(Rows) -> lists:sort(Rows)
    after 1000 -> none end.

%% A process that waits, as `observer` lists it.
procs() ->
    Pid = spawn(fun() -> register(observed_process, self()), receive stop -> ok end end),
    Pid ! one, Pid ! two,
    receive after 50 -> ok end,
    observer_backend:procs_info(self()),
    receive
        {procs_info, _, L} ->
            #etop_proc_info{mem = M, reds = R, name = N, cf = {Mod, _, _}, mq = Q} =
                lists:keyfind(Pid, #etop_proc_info.pid, L),
            Pid ! stop,
            {M > 0, R > 0, N, Mod, Q, length(L) > 20}
    after 5000 -> none end.

%% Pictures of `etop`, as text: what stands in them but numbers.
etop() ->
    File = filename:join(t:tmp("etop"), "etop"),
    {ok, F} = file:open(File, [write]),
    Leader = group_leader(),
    {Pid, Ref} = spawn_monitor(fun() ->
        group_leader(F, self()),
        spawn(fun() -> timer:sleep(500), etop:stop() end),
        exit({ended, etop:start([{output, text}, {interval, 1}, {lines, 5}, {tracing, off}, {sort, reductions}])})
    end),
    R = receive {'DOWN', Ref, process, Pid, Why} -> Why after 10000 -> late end,
    true = Leader =:= group_leader(),
    file:close(F),
    {ok, B} = file:read_file(File),
    Lines = string:split(B, "\n", all),
    Heads = [string:lexemes(L, " ") || <<"Pid ", _/binary>> = L <- Lines],
    Rows = [x || <<"<0.", _/binary>> <- Lines],
    Loads = [lists:filter(fun(W) -> re:run(W, "^[0-9]+$") =:= nomatch end, string:lexemes(L, " "))
             || L <- Lines, string:find(L, "Load:") =/= nomatch],
    {R, lists:usort(Heads), length(Heads) >= 1, length(Rows) =:= 5 * length(Heads), lists:usort(Loads)}.

appmon() ->
    {ok, P} = appmon_info:start_link(node(), self(), []),
    appmon_info:load(P, node(), true, []),
    appmon_info:app_ctrl(P, node(), true, []),
    R = [receive {delivery, P, W, _, D} -> {W, told(W, D)} after 3000 -> none end || _ <- "12"],
    unlink(P),
    exit(P, kill),
    lists:sort(R).

told(load, {A, B}) -> is_integer(A) andalso is_integer(B);
told(app_ctrl, L) -> [{A, is_pid(P)} || {P, A, _} <- L].
