%% Interprets a concurrent program (order_gen) and logs all that its processes do and see.
%%
%% The log is one ETS table in the order of erlang:unique_integer([monotonic]): to write it sends no
%% message and switches no process. Pids and references are noted under names by whoever made them, so
%% that the logs of two machines can be compared.
-module(order_vm).
-export([init_shared/0, run/1, steps/2, start_child/2, log/3, note_pid/2]).

-define(LOG, order_log).
-define(NAMES, order_names).
-define(SHARED, order_shared).
%% A program that is not quiet after so many milliseconds is logged as far as it came.
-define(LIMIT, 5000).

init_shared() ->
    [ets:new(T, [named_table, public, K]) ||
        {T, K} <- [{?LOG, ordered_set}, {?NAMES, set}, {?SHARED, ordered_set}]].

%% The log of a program: `{Name, What, Result}` for each event, in order.
run({Roots, Phases}) ->
    [ets:delete_all_objects(T) || T <- [?LOG, ?NAMES, ?SHARED]],
    {Pid, Ref} = spawn_monitor(fun() -> drive(Roots, Phases) end),
    receive {'DOWN', Ref, process, Pid, normal} -> ok end,
    Log = [plain({N, What, R}) || {_, N, What, R} <- ets:tab2list(?LOG)],
    clean(),
    Log.

drive(Roots, Phases) ->
    {Wait, _} = lists:last(Phases),
    [start_root(R) || R <- Roots],
    [phase(P) || P <- Phases],
    quiet(Wait),
    log(driver, the_end, [{N, is_process_alive(P)} || {N, P} <- lists:sort(pids())]).

start_root({Name, Steps}) ->
    Pid = spawn(?MODULE, steps, [Steps, Name]),
    note_pid(Pid, Name).

%% All wait: then some are sent to, in this order.
phase({Wait, Names}) ->
    quiet(Wait),
    log(driver, phase, Names),
    [with_pid(N, fun(P) -> P ! {go, driver, Tag} end) || {N, Tag} <- Names].

%% Waits until nothing has been logged and nothing was to run while this process yielded, or slept,
%% often enough; before that `Wait` milliseconds for timers.
quiet(Wait) ->
    receive after Wait -> ok end,
    quiet(Wait, -1, 0, erlang:monotonic_time(millisecond) + ?LIMIT).
quiet(_, _, 2, _) ->
    ok;
quiet(Wait, Last, Times, Until) ->
    case Wait of
        0 -> [erlang:yield() || _ <- lists:seq(1, 12)];
        _ -> receive after 1 -> ok end
    end,
    Size = ets:info(?LOG, size),
    Busy = statistics(total_run_queue_lengths_all) > 0,
    case erlang:monotonic_time(millisecond) > Until of
        true -> log(driver, not_quiet, ok);
        false when Busy; Size =/= Last -> quiet(Wait, Size, 0, Until);
        false -> quiet(Wait, Size, Times + 1, Until)
    end.

pids() -> [{N, P} || {P, N} <- ets:tab2list(?NAMES), is_pid(P)].

%% Ends all processes, also those that others start meanwhile.
clean() ->
    Refs = [begin exit(P, kill), monitor(process, P) end || {_, P} <- pids()],
    [receive {'DOWN', R, _, _, _} -> ok end || R <- Refs],
    case [P || {_, P} <- pids(), is_process_alive(P)] of
        [] -> ok;
        _ -> clean()
    end.

log(Name, What, Result) ->
    ets:insert(?LOG, {erlang:unique_integer([monotonic]), Name, What, Result}).
note_pid(Pid, Name) ->
    ets:insert(?NAMES, [{Pid, Name}, {{name, Name}, Pid}]).
%% The references that a process makes are counted.
note_ref(Ref, Name) ->
    N = case get(refs) of undefined -> 0; Refs -> length(Refs) end,
    put(refs, [Ref | case get(refs) of undefined -> []; L -> L end]),
    ets:insert(?NAMES, {Ref, {ref, Name, N}}),
    Ref.
with_pid(Name, F) ->
    case ets:lookup(?NAMES, {name, Name}) of
        [{_, Pid}] -> F(Pid);
        [] -> no_such
    end.

%% Pids and references by their names.
plain(T) when is_pid(T); is_reference(T); is_port(T) ->
    case ets:lookup(?NAMES, T) of
        [{_, Name}] -> {'#', Name};
        [] when is_pid(T) -> '#pid';
        [] when is_port(T) -> '#port';
        [] -> '#ref'
    end;
plain(F) when is_function(F) -> '#fun';
plain([H | T]) -> [plain(H) | plain(T)];
plain(T) when is_tuple(T) -> list_to_tuple(plain(tuple_to_list(T)));
plain(M) when is_map(M) -> {'#map', lists:sort(plain(maps:to_list(M)))};
plain(T) -> T.

%% What a supervisor starts.
start_child(Name, Steps) ->
    Pid = spawn_link(?MODULE, steps, [Steps, Name]),
    note_pid(Pid, Name),
    {ok, Pid}.

steps([], N) ->
    log(N, ends, normal);
steps([hibernate | Rest], N) ->
    log(N, hibernate, ok),
    erlang:hibernate(?MODULE, steps, [Rest, N]);
steps([{repeat, Times, Steps} | Rest], N) when Times > 0 ->
    steps(Steps ++ [{repeat, Times - 1, Steps} | Rest], N);
steps([{repeat, 0, _} | Rest], N) ->
    steps(Rest, N);
steps([S | Rest], N) ->
    log(N, what(S), step(S, N)),
    steps(Rest, N).

%% A step without the steps in it.
what({spawn, How, Name, _}) -> {spawn, How, Name};
what({storm, Count, _}) -> {storm, Count};
what({call, To, _}) -> {call, To};
what({cast, To, _}) -> {cast, To};
what({sup_start, Name, _}) -> {sup_start, Name};
what(S) -> S.

step({spawn, How, Name, Steps}, N) -> start(How, Name, Steps, N);
step({storm, Count, Steps}, N) ->
    [note_pid(spawn(?MODULE, steps, [Steps, {N, I}]), {N, I}) || I <- lists:seq(1, Count)],
    ok;
step({send, To, Tag}, N) ->
    with_pid(To, fun(P) -> P ! {msg, N, Tag}, ok end);
step({send_self, Tag}, N) ->
    self() ! {msg, N, Tag}, ok;
step({send_named, To, Tag}, N) ->
    catch_error(fun() -> To ! {msg, N, Tag}, ok end);
step({send_alias, To, Tag}, N) ->
    case ets:lookup(?SHARED, {alias, To}) of
        [{_, A}] -> A ! {msg, N, Tag}, ok;
        [] -> no_such
    end;
step({send_opts, To, Tag}, N) ->
    with_pid(To, fun(P) -> erlang:send(P, {msg, N, Tag}, [nosuspend, noconnect]) end);
step({send_many, Tos, Tag}, N) ->
    [with_pid(To, fun(P) -> P ! {msg, N, Tag}, ok end) || To <- Tos];
step({ask, To, Tag}, N) ->
    with_pid(To, fun(P) ->
        R = note_ref(monitor(process, P, [{alias, reply_demonitor}]), N),
        P ! {ask, R, Tag},
        receive
            {R, Answer} -> Answer;
            {'DOWN', R, _, _, Why} -> {down, Why}
        end
    end);
step(answer, _) ->
    receive {ask, R, Tag} -> R ! {R, Tag}, Tag after 0 -> nobody end;
step({recv, Pattern, After}, _) -> recv(Pattern, After);
step({link, To}, _) ->
    with_pid(To, fun(P) -> catch_error(fun() -> link(P) end) end);
step({unlink, To}, _) ->
    with_pid(To, fun(P) -> unlink(P) end);
step({monitor, To}, N) ->
    with_pid(To, fun(P) -> note_ref(monitor(process, P), N), ok end);
step({monitor_opts, To, Opts}, N) ->
    with_pid(To, fun(P) -> note_ref(monitor(process, P, Opts), N), ok end);
step({monitor_named, To}, N) ->
    note_ref(monitor(process, To), N), ok;
step({demonitor, K, Opts}, _) ->
    with_ref(K, fun(R) -> catch_error(fun() -> demonitor(R, Opts) end) end);
step({alias, Opts}, N) ->
    A = note_ref(alias(Opts), N),
    ets:insert(?SHARED, {{alias, N}, A}), ok;
step({unalias, K}, _) ->
    with_ref(K, fun(R) -> unalias(R) end);
step({exit, Reason}, N) ->
    log(N, exits, Reason),
    exit(Reason);
step({error, Reason}, N) ->
    log(N, exits, Reason),
    error(Reason);
step({exit, To, Reason}, _) ->
    with_pid(To, fun(P) -> exit(P, Reason) end);
step({trap_exit, On}, _) -> process_flag(trap_exit, On);
step({priority, P}, _) -> process_flag(priority, P);
step(yield, _) -> erlang:yield();
step({group_leader, Of, To}, _) ->
    with_pid(Of, fun(P) ->
        with_pid(To, fun(G) -> catch_error(fun() -> group_leader(G, P) end) end)
    end);
step(my_group_leader, _) ->
    case ets:lookup(?NAMES, group_leader()) of [_] -> group_leader(); [] -> usual end;
step({info, Of, Items}, _) ->
    with_pid(Of, fun(P) -> process_info(P, Items) end);
step({my_info, Items}, _) -> process_info(self(), Items);
step({alive, Of}, _) ->
    with_pid(Of, fun is_process_alive/1);
step({register, Name, Who}, _) ->
    with_pid(Who, fun(P) -> catch_error(fun() -> register(Name, P) end) end);
step({register_self, Name}, _) ->
    catch_error(fun() -> register(Name, self()) end);
step({unregister, Name}, _) ->
    catch_error(fun() -> unregister(Name) end);
step({whereis, Name}, _) -> whereis(Name);
step({suspend, Who, Opts}, _) ->
    with_pid(Who, fun(P) -> catch_error(fun() -> erlang:suspend_process(P, Opts) end) end);
step({resume, Who}, _) ->
    with_pid(Who, fun(P) -> catch_error(fun() -> erlang:resume_process(P) end) end);
step({collect, Who}, _) ->
    with_pid(Who, fun(P) -> garbage_collect(P) end);
step({collect, Who, async, Tag}, _) ->
    with_pid(Who, fun(P) -> garbage_collect(P, [{async, Tag}]) end);
step({check_code, Who}, _) ->
    with_pid(Who, fun(P) -> catch_error(fun() -> check_process_code(P, order_server) end) end);
step(collect, _) -> garbage_collect();
step({add, Key}, _) -> ets:update_counter(?SHARED, Key, 1, {Key, 0});
step({put, Key, Value}, _) -> ets:insert(?SHARED, {Key, Value});
step({look, Key}, _) -> ets:lookup(?SHARED, Key);
step({own_table, Heir}, N) ->
    with_pid(Heir, fun(P) -> ets:new(order, [{heir, P, N}]), ok end);
step({give_table, To}, N) ->
    with_pid(To, fun(P) ->
        catch_error(fun() -> ets:give_away(ets:new(order, []), P, N) end)
    end);
step({send_after, Time, To, Tag}, N) ->
    with_pid(To, fun(P) -> note_ref(erlang:send_after(Time, P, {msg, N, Tag}), N), ok end);
step({start_timer, Time, Tag}, N) ->
    note_ref(erlang:start_timer(Time, self(), Tag), N), ok;
step({cancel, K}, _) ->
    with_ref(K, fun(R) ->
        case catch_error(fun() -> erlang:cancel_timer(R) end) of
            Left when is_integer(Left) -> left;
            Other -> Other
        end
    end);
step({gs_start, How, Name}, _) -> server(gen_server, How, Name);
step({st_start, How, Name}, _) -> server(gen_statem, How, Name);
step({call, To, Steps}, _) ->
    with_pid(To, fun(P) ->
        catch_error(fun() -> gen_server:call(P, {steps, Steps}, infinity) end)
    end);
step({cast, To, Steps}, _) ->
    with_pid(To, fun(P) -> gen_server:cast(P, {steps, Steps}) end);
step({stop, To, Reason}, _) ->
    with_pid(To, fun(P) -> catch_error(fun() -> gen_server:stop(P, Reason, infinity) end) end);
step({sup_start, Name, Children}, _) ->
    case supervisor:start_link(order_server, {sup, Name, Children}) of
        {ok, _} -> ok;
        Error -> Error
    end;
step({sup_do, Name, Do, Child}, _) ->
    with_pid(Name, fun(P) ->
        catch_error(fun() -> supervisor:Do(P, Child) end)
    end);
step({sup_children, Name}, _) ->
    with_pid(Name, fun(P) -> catch_error(fun() -> supervisor:which_children(P) end) end);
step({proc_lib, How, Name, Steps}, _) ->
    case proc_lib:How(order_server, started, [Name, Steps]) of
        {ok, _} -> ok;
        Other -> Other
    end.

server(Kind, How, Name) ->
    Module = case Kind of gen_server -> order_server; gen_statem -> order_statem end,
    case Kind:How(Module, Name, []) of
        {ok, _} -> ok;
        Error -> Error
    end.

start(How, Name, Steps, N) ->
    Args = [Steps, Name],
    case How of
        spawn -> note_pid(spawn(?MODULE, steps, Args), Name);
        spawn_link -> note_pid(spawn_link(?MODULE, steps, Args), Name);
        spawn_monitor ->
            {P, R} = spawn_monitor(?MODULE, steps, Args),
            note_ref(R, N),
            note_pid(P, Name);
        spawn_request ->
            R = note_ref(spawn_request(?MODULE, steps, Args, [link, monitor]), N),
            receive {spawn_reply, R, ok, P} -> note_pid(P, Name) end;
        {opt, Opts} ->
            case spawn_opt(?MODULE, steps, Args, Opts) of
                {P, R} -> note_ref(R, N), note_pid(P, Name);
                P -> note_pid(P, Name)
            end
    end,
    ok.

with_ref(K, F) ->
    case get(refs) of
        undefined -> no_such;
        Refs when length(Refs) =< K -> no_such;
        Refs -> F(lists:nth(K + 1, Refs))
    end.

recv(any, 0) -> receive M -> M after 0 -> nothing end;
recv(any, infinity) -> receive M -> M end;
recv(any, T) -> receive M -> M after T -> timeout end;
recv({tag, K}, 0) -> receive {_, _, K} = M -> M after 0 -> nothing end;
recv({tag, K}, T) -> receive {_, _, K} = M -> M after T -> timeout end;
recv({from, X}, T) -> receive {_, X, _} = M -> M after T -> timeout end;
recv(signal, T) ->
    receive
        {'EXIT', _, _} = M -> M;
        {'DOWN', _, _, _, _} = M -> M;
        {down, _, _, _, _} = M -> M
    after T -> timeout
    end;
recv({not_from, X}, T) -> receive M when element(2, M) =/= X -> M after T -> timeout end;
recv(ref, T) ->
    case get(refs) of
        [R | _] -> receive M when element(2, M) =:= R -> M after T -> timeout end;
        _ -> no_such
    end.

catch_error(F) ->
    try F() catch Class:Reason -> {Class, Reason} end.
