%% Everything at once on all schedulers, for as long as asked: processes that spawn, link, monitor
%% and die, messages, timers, ETS, binaries, code that is loaded again, files, ports. Each worker
%% checks what it does. Once a second the memory of this program goes to a file; after the first
%% minute it must stay where it is. tests/soak/run starts this.
-module(soak).
-export([main/1, worker/3]).

%% A worker does so many rounds and is then replaced, so that nothing is gathered in it.
-define(ROUNDS, 20).
-define(KINDS, [tree, chain, ring, ets, ets_own, binaries, code, timers, files, port, gen, big, dictionary,
                monitors, names, terms]).

main([Seconds, Seed, Log]) ->
    process_flag(trap_exit, true),
    _ = rand:seed(exsss, list_to_integer(Seed)),
    _ = ets:new(soak_shared, [named_table, public, {write_concurrency, true}]),
    _ = ets:new(soak_ordered, [named_table, public, ordered_set]),
    _ = ets:new(soak_rounds, [named_table, public]),
    ets:insert(soak_rounds, [{K, 0} || K <- ?KINDS]),
    register(soak_main, self()),
    {ok, File} = file:open(Log, [write, raw]),
    _ = [start(K, Slot) || K <- ?KINDS, Slot <- [1, 2]],
    Start = now_s(),
    loop(File, Start, Start + list_to_integer(Seconds), Start),
    io:format("~0p~n", [lists:sort([C || {K, _} = C <- ets:tab2list(soak_rounds), is_atom(K)])]),
    halt(0).

now_s() -> erlang:monotonic_time(second).

start(Kind, Slot) ->
    Pid = spawn_link(?MODULE, worker, [Kind, Slot, rand:uniform(1 bsl 30)]),
    put(Pid, {Kind, Slot}).

%% Replaces workers that are done; one that fails, or is in one round for two minutes, ends it all.
loop(File, Start, End, Last) ->
    receive
        {'EXIT', Pid, Reason} ->
            case erase(Pid) of
                undefined when Reason =:= normal -> ok;
                {Kind, Slot} when Reason =:= normal -> start(Kind, Slot);
                Who ->
                    io:format("FAIL ~0p: ~0P~n", [Who, Reason, 30]),
                    halt(1)
            end;
        Odd ->
            io:format("FAIL soak got ~0P~n", [Odd, 30]),
            halt(1)
    after 100 -> ok
    end,
    Now = now_s(),
    Last =/= Now andalso report(File, Now - Start),
    Last =/= Now andalso look_for_hanging(Now),
    if
        Now >= End -> ok;
        true -> loop(File, Start, End, Now)
    end.

look_for_hanging(Now) ->
    [begin
         io:format("FAIL ~p hangs: ~0p~n", [Kind, process_info(Pid, [current_stacktrace, messages, status])]),
         halt(1)
     end || {Pid, {Kind, Slot}} <- get(), is_pid(Pid),
            {_, Since} <- ets:lookup(soak_rounds, {Kind, Slot}), Now - Since > 120].

report(File, Second) ->
    {ok, Status} = file:read_file("/proc/self/status"),
    {match, [KB]} = re:run(Status, "VmRSS:\\s*([0-9]+)", [{capture, all_but_first, list}]),
    Counts = [N || {K, N} <- ets:tab2list(soak_rounds), is_atom(K)],
    {Rounds, Least} = {lists:sum(Counts), lists:min(Counts)},
    ok = file:write(File, io_lib:format("~b ~s ~b ~b ~b ~b ~b~n",
                                        [Second, KB, Rounds, Least, erlang:system_info(process_count),
                                         erlang:system_info(port_count), length(ets:all())])).

worker(Kind, Slot, Seed) ->
    put(slot, Slot),
    _ = rand:seed(exsss, Seed),
    [begin
         ets:insert(soak_rounds, {{Kind, Slot}, now_s()}),
         round(Kind, N),
         ets:update_counter(soak_rounds, Kind, 1)
     end || N <- lists:seq(1, ?ROUNDS)],
    [] = [M || M <- [receive X -> X after 0 -> none end], M =/= none].

%% ---- processes ----

%% A tree of processes that are linked; one of them dies, and with it all.
round(tree, _) ->
    Self = self(),
    {Pid, Ref} = spawn_monitor(fun() -> tree(5, Self) end),
    Pids = [receive {node, P} -> P end || _ <- lists:seq(1, 63)],
    exit(lists:nth(rand:uniform(63), Pids), boom),
    receive {'DOWN', Ref, process, Pid, boom} -> ok end,
    [begin R = monitor(process, P), receive {'DOWN', R, _, _, _} -> ok end end || P <- Pids],
    ok;
%% Each waits for the next one's end.
round(chain, _) ->
    First = spawn(fun() -> receive go -> exit(0) end end),
    Last = lists:foldl(fun(_, P) -> spawn(fun() -> awaits(P) end) end, First, lists:seq(1, 100)),
    R = monitor(process, Last),
    First ! go,
    receive {'DOWN', R, process, Last, Reason} -> true = Reason =:= noproc orelse is_integer(Reason) end;
round(ring, _) ->
    Self = self(),
    N = 50,
    First = lists:foldl(fun(_, Next) -> spawn(fun() -> ring(Next) end) end, Self, lists:seq(1, N)),
    [First ! {hop, I, lists:seq(1, I)} || I <- lists:seq(1, 20)],
    [receive {hop, I, L} -> I = length(L) end || I <- lists:seq(20, 1, -1)],
    First ! stop,
    receive stop -> ok end;
round(monitors, _) ->
    Pids = [spawn(fun() -> receive {stop, R} -> exit(R) end end) || _ <- lists:seq(1, 30)],
    Refs = [{monitor(process, P, [{alias, reply_demonitor}]), P} || P <- Pids],
    [demonitor(R, [flush]) || {R, _} <- lists:sublist(Refs, 10)],
    [P ! {stop, x} || P <- Pids],
    [receive {'DOWN', R, process, P, x} -> ok end || {R, P} <- lists:nthtail(10, Refs)],
    ok;
round(names, N) ->
    Name = list_to_atom("soak_" ++ integer_to_list(N)),
    {Pid, Ref} = spawn_monitor(fun() -> exit(case catch register(Name, self()) of true -> receive {From, hi} -> From ! {self(), ho}, named end; _ -> taken end) end),
    catch Name ! {self(), hi},
    receive
        {'DOWN', Ref, _, _, taken} -> ok;
        {Pid, ho} -> receive {'DOWN', Ref, _, _, named} -> ok end
    after 20 -> exit(Pid, kill), receive {'DOWN', Ref, _, _, _} -> ok end
    end,
    flush();
round(dictionary, N) ->
    [put({k, I}, lists:duplicate(10, I)) || I <- lists:seq(1, 500)],
    erlang:garbage_collect(),
    5000 = lists:sum([length(erase({k, I})) || I <- lists:seq(1, 500)]),
    process_flag(priority, lists:nth(1 + N rem 3, [low, normal, high])),
    process_flag(priority, normal);
%% Requests through a server of OTP's.
round(gen, _) ->
    {ok, Pid} = gen_event:start([]),
    [] = gen_event:which_handlers(Pid),
    {error, bad_module} = gen_event:call(Pid, none, x),
    ok = gen_event:notify(Pid, y),
    ok = gen_event:stop(Pid);

%% ---- data ----

round(ets, N) ->
    [begin
         K = rand:uniform(1000),
         ets:insert(soak_shared, {K, K, binary:copy(<<K:16>>, rand:uniform(100))}),
         case ets:lookup(soak_shared, K) of [{K, K, <<K:16, _/binary>>}] -> ok; [] -> ok end,
         ets:insert(soak_ordered, {{K, N}, K}),
         catch ets:update_counter(soak_ordered, {K, N}, 1),
         K rem 3 =:= 0 andalso ets:delete(soak_shared, K),
         K rem 2 =:= 0 andalso ets:delete(soak_ordered, {K, N})
     end || _ <- lists:seq(1, 300)],
    _ = ets:select_count(soak_ordered, [{{{'$1', '_'}, '_'}, [{'<', '$1', 500}], [true]}]),
    _ = ets:select_delete(soak_ordered, [{{{'_', N}, '_'}, [], [true]}]),
    ok;
round(ets_own, _) ->
    Self = self(),
    {Pid, Ref} = spawn_monitor(fun() ->
                                   T = ets:new(x, [{heir, Self, heir} || rand:uniform(2) =:= 1]),
                                   ets:insert(T, [{I, lists:seq(1, 20)} || I <- lists:seq(1, 200)])
                               end),
    receive {'DOWN', Ref, _, _, normal} -> ok end,
    receive {'ETS-TRANSFER', T, Pid, heir} -> 200 = ets:info(T, size), ets:delete(T) after 0 -> ok end;
round(binaries, _) ->
    B = lists:foldl(fun(I, A) -> <<A/binary, I:32>> end, <<>>, lists:seq(1, 5000)),
    Parts = [binary:part(B, I * 100, 80) || I <- lists:seq(0, 199)],
    Self = self(),
    Pids = [spawn(fun() -> receive P -> Self ! {crc, I, erlang:crc32(P)} end end) || I <- lists:seq(1, 10)],
    [P ! B || P <- Pids],
    Crc = erlang:crc32(B),
    [receive {crc, I, Crc} -> ok end || I <- lists:seq(1, 10)],
    B = iolist_to_binary([binary:part(B, I * 100, 100) || I <- lists:seq(0, 199)]),
    16000 = iolist_size(Parts),
    B = zlib:uncompress(zlib:compress(B)),
    ok;
round(big, _) ->
    L = lists:seq(1, 20000),
    M = maps:from_list([{I, {I, integer_to_list(I)}} || I <- lists:seq(1, 2000)]),
    Self = self(),
    spawn(fun() -> Self ! {sum, lists:sum(L), maps:size(M)} end),
    receive {sum, 200010000, 2000} -> ok end,
    F = lists:foldl(fun(I, A) -> A * I end, 1, lists:seq(1, 300)),
    F = list_to_integer(integer_to_list(F)),
    ok;
round(terms, _) ->
    T = term(4),
    T = binary_to_term(term_to_binary(T, [{compressed, rand:uniform(9)}])),
    true = is_list(lists:flatten(io_lib:format("~p", [T]))),
    true = erlang:phash2(T) =:= erlang:phash2(binary_to_term(term_to_binary(T))),
    {ok, Tokens, _} = erl_scan:string("X = lists:foldl(fun(A, B) -> A * B end, 1, [1, 2, 3]), {X, \"abc\"}."),
    {ok, Exprs} = erl_parse:parse_exprs(Tokens),
    {value, {6, "abc"}, _} = erl_eval:exprs(Exprs, []),
    ok;

%% ---- code, time, the world outside ----

%% A module of the worker's own, loaded again and again, with processes in its code.
round(code, N) ->
    M = list_to_atom("soak_m" ++ integer_to_list(get(slot))),
    Forms = [{attribute, 1, module, M}, {attribute, 1, export, [{f, 0}, {wait, 1}]},
             {function, 1, f, 0, [{clause, 1, [], [], [{integer, 1, N}]}]},
             {function, 2, wait, 1, [{clause, 2, [{var, 2, 'P'}], [], [{'receive', 2, [{clause, 2, [{atom, 2, go}], [], [{op, 2, '!', {var, 2, 'P'}, {tuple, 2, [{atom, 2, done}, {string, 2, lists:duplicate(N, $x)}]}}]}]}]}]}],
    {ok, M, Bin} = compile:forms(Forms),
    code:purge(M),
    {module, M} = code:load_binary(M, "soak", Bin),
    N = M:f(),
    P = spawn(M, wait, [self()]),
    false = code:purge(M),
    {module, M} = code:load_binary(M, "soak", Bin),
    P ! go,
    receive {done, Text} -> N = length(Text) end,
    R = monitor(process, P),
    receive {'DOWN', R, _, _, _} -> ok end,
    Q = spawn(M, wait, [self()]),
    S = monitor(process, Q),
    code:purge(M),
    {module, M} = code:load_binary(M, "soak", Bin),
    %% That one is in old code and is killed.
    true = code:purge(M),
    receive {'DOWN', S, process, Q, killed} -> ok end,
    true = code:delete(M),
    false = code:purge(M);
round(timers, _) ->
    Refs = [erlang:start_timer(rand:uniform(30), self(), I) || I <- lists:seq(1, 100)],
    {Some, Others} = lists:split(50, Refs),
    Left = [R || R <- Some, erlang:cancel_timer(R) =:= false],
    [receive {timeout, R, _} -> ok end || R <- Left ++ Others],
    {ok, T} = timer:send_after(1, tick),
    receive tick -> ok end,
    {error, _} = {error, timer:cancel(T)},
    receive never -> ok after rand:uniform(3) -> ok end;
round(files, N) ->
    Name = filename:join(os:getenv("SOAK_TMP"), pid_to_list(self())),
    Data = binary:copy(<<N:64>>, rand:uniform(5000)),
    {ok, F} = file:open(Name, [read, write, binary | [raw || N rem 2 =:= 0]]),
    ok = file:write(F, Data),
    {ok, 0} = file:position(F, 0),
    {ok, Data} = file:read(F, byte_size(Data) + 1),
    eof = file:read(F, 1),
    ok = file:close(F),
    {ok, Data} = file:read_file(Name),
    {error, enoent} = file:read_file(Name ++ ".none"),
    ok = file:delete(Name);
round(port, N) when N rem 4 =:= 0 ->
    "hello\n" = os:cmd("echo hello"),
    ok;
round(port, N) ->
    P = open_port({spawn_executable, "/bin/cat"}, [binary, stream, use_stdio] ++ [exit_status || N rem 2 =:= 0]),
    Data = binary:copy(<<"x">>, rand:uniform(20000)),
    true = port_command(P, Data),
    ok = echoed(P, byte_size(Data)),
    case N rem 3 of
        0 -> true = port_close(P);
        1 -> P ! {self(), close}, receive {P, closed} -> ok end;
        2 -> R = monitor(port, P), true = unlink(P), true = exit(P, stop), receive {'DOWN', R, port, P, _} -> ok end
    end,
    flush().

echoed(_, 0) -> ok;
echoed(P, N) -> receive {P, {data, D}} -> echoed(P, N - byte_size(D)) end.

tree(D, Root) ->
    D > 0 andalso [spawn_link(fun() -> tree(D - 1, Root) end) || _ <- [1, 2]],
    Root ! {node, self()},
    receive never -> ok end.

%% Ends with a number one higher than that of the process before it, which may be gone already.
awaits(P) ->
    R = monitor(process, P),
    receive
        {'DOWN', R, process, P, noproc} -> exit(1);
        {'DOWN', R, process, P, N} -> exit(N + 1)
    end.

ring(Next) ->
    receive
        {hop, I, L} -> Next ! {hop, 21 - I, lists:seq(1, 21 - length(L))}, ring(Next);
        stop -> Next ! stop
    end.

flush() -> receive _ -> flush() after 0 -> ok end.

term(0) -> lists:nth(rand:uniform(6), [a, 1, 1 bsl 70, 1.5, "text", <<"binary">>]);
term(D) ->
    case rand:uniform(4) of
        1 -> list_to_tuple([term(D - 1) || _ <- lists:seq(1, rand:uniform(4))]);
        2 -> [term(D - 1) || _ <- lists:seq(1, rand:uniform(4))];
        3 -> maps:from_list([{term(D - 1), term(D - 1)} || _ <- lists:seq(1, rand:uniform(40))]);
        4 -> term(0)
    end.
