%% Processes that this node starts on another, where new processes are traced: what a tracer there hears.
-module(traced_spawns).
-export([main/0, called/1, tracer/1, untrace/0]).

main() ->
    process_flag(trap_exit, true),
    N = two:other(),
    {module, ?MODULE} = rpc:call(N, code, ensure_loaded, [?MODULE]),
    Tracer = spawn(N, ?MODULE, tracer, [self()]),
    two:p(spawned, fun() -> heard(N, Tracer, fun() -> spawn(N, ?MODULE, called, [1]) end) end),
    two:p(linked, fun() -> heard(N, Tracer, fun() -> spawn_link(N, ?MODULE, called, [2]) end) end),
    two:p(with_options, fun() ->
        heard(N, Tracer, fun() -> element(1, spawn_opt(N, ?MODULE, called, [3], [link, monitor, {priority, high}])) end)
    end),
    two:p(function, fun() -> heard(N, Tracer, fun() -> spawn(N, fun() -> called(4) end) end) end),
    two:p(asked_for, fun() ->
        heard(N, Tracer, fun() ->
            R = spawn_request(N, ?MODULE, called, [5], [link]),
            receive {spawn_reply, R, ok, P} -> P end
        end)
    end),
    two:p(existing, fun() -> tracing(N, Tracer, [existing, procs, call]), events_of(spawn(N, ?MODULE, called, [6])) end),
    two:p(all, fun() -> heard(N, Tracer, [all, procs, call], fun() -> spawn(N, ?MODULE, called, [7]) end) end).

called(X) -> X.

tracer(To) -> receive M -> To ! M, tracer(To) end.

heard(N, Tracer, Spawn) -> heard(N, Tracer, [new, procs, call, running], Spawn).
heard(N, Tracer, What, Spawn) ->
    tracing(N, Tracer, What),
    P = Spawn(),
    Events = until_exit(P),
    rpc:call(N, ?MODULE, untrace, []),
    Events.

untrace() ->
    erlang:trace(all, false, [all]),
    erlang:trace(new, false, [all]),
    erlang:trace_pattern({?MODULE, called, '_'}, false, [local]).
tracing(N, Tracer, [Which | Flags]) ->
    1 = rpc:call(N, erlang, trace_pattern, [{?MODULE, called, '_'}, true, [local]]),
    true = is_integer(rpc:call(N, erlang, trace, [Which, true, [{tracer, Tracer} | Flags]])).

until_exit(P) ->
    receive
        {trace, P, exit, Why} -> [{exit, Why}];
        M when element(1, M) =:= trace, element(2, M) =:= P -> [shown(M) | until_exit(P)]
    after 10000 -> nothing
    end.
%% A process that is not traced: what is heard of it once it has ended.
events_of(P) ->
    R = erlang:monitor(process, P),
    receive {'DOWN', R, process, P, _} -> ok end,
    receive M when element(1, M) =:= trace, element(2, M) =:= P -> shown(M) after 300 -> nothing end.

shown(M) -> list_to_tuple([case X of _ when X =:= self() -> me; _ -> X end || X <- tl(tl(tuple_to_list(M)))]).
