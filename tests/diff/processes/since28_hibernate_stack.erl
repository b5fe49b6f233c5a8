%% since 28
%% erlang:hibernate/0 is an instruction: its caller is where the process is, and calls are not traced.
%% The heap shrinks to what lives, and a message that is there already costs the time slice.
-module(since28_hibernate_stack).
-export([main/0, in_tail/0, in_body/1, applied/1, by_name/1, spawned/1]).

main() ->
    [place(F, A) || {F, A} <- [{in_tail, []}, {in_body, [1]}, {applied, [erlang]}, {by_name, [erlang]}]],
    place(spawned, [1]),
    heap(),
    turns(),
    [traced(F, A, O) || {F, A} <- [{in_body, [1]}, {applied, [erlang]}], O <- [global, local]],
    order(),
    killed().

in_tail() -> erlang:hibernate().
in_body(N) -> R = in_tail(), {R, N}.
applied(M) -> R = M:hibernate(), [R].
by_name(M) -> M:hibernate().
spawned(N) -> R = erlang:hibernate(), {R, N}.

place(F, A) ->
    Me = self(),
    P = spawn_link(fun() -> Me ! {self(), apply(?MODULE, F, A)} end),
    hibernates(P),
    {_, Where} = process_info(P, current_function),
    {_, Stack} = process_info(P, current_stacktrace),
    {_, {_, _, _, Info}} = process_info(P, current_location),
    t:p({F, Where, [{M, Fu, Ar} || {M, Fu, Ar, _} <- Stack, M =/= ?MODULE orelse Ar > 0], Info =/= []}),
    P ! wake,
    receive {P, R} -> t:p(R) end.

%% What was made before is gone, what the stack holds is kept.
heap() ->
    Me = self(),
    P = spawn_link(fun() ->
        Kept = lists:seq(1, 100),
        garbage(200),
        ok = erlang:hibernate(),
        Me ! {self(), lists:sum(Kept), element(2, process_info(self(), message_queue_len))}
    end),
    hibernates(P),
    {_, Total} = process_info(P, total_heap_size),
    {_, Heap} = process_info(P, heap_size),
    t:p({Total =:= Heap, Total >= 200, Total < 233}),
    P ! wake,
    receive {P, Sum, N} -> t:p({Sum, N}) end.

garbage(0) -> ok;
garbage(N) -> length(lists:seq(1, 1000)), garbage(N - 1).

turns() ->
    [begin
        P = spawn(fun() -> receive go -> ok end, F(), receive stop -> ok end end),
        waits(P),
        1 = erlang:trace(P, true, [running]),
        P ! go,
        waits(P),
        P ! wake,
        waits(P),
        erlang:trace(P, false, [running]),
        T = erlang:trace_delivered(P),
        receive {trace_delivered, P, T} -> ok end,
        t:p({Name, [{Tag, {M, Fu, A}} || {trace, _, Tag, {M, Fu, A}} <- t:flush(), not is_fun_name(Fu)]}),
        exit(P, kill)
     end || {Name, F} <- [{tail, fun() -> in_body(1) end},
                          {applied, fun() -> applied(erlang) end},
                          {with_message, fun() -> self() ! early, in_body(1) end}]].

is_fun_name(F) -> hd(atom_to_list(F)) =:= $-.

traced(F, A, Option) ->
    P = spawn(fun() -> receive go -> ok end, apply(?MODULE, F, A), receive stop -> ok end end),
    1 = erlang:trace(P, true, [call]),
    1 = erlang:trace_pattern({erlang, hibernate, 0}, [{'_', [], [{return_trace}]}], [Option]),
    P ! go,
    hibernates(P),
    P ! wake,
    waits(P),
    T = erlang:trace_delivered(P),
    receive {trace_delivered, P, T} -> ok end,
    erlang:trace_pattern({erlang, hibernate, 0}, false, [Option]),
    t:p({F, Option, [list_to_tuple(tl(tl(tuple_to_list(E)))) || E <- t:flush()]}),
    exit(P, kill).

%% Others run before a process that hibernates goes on with a message it has.
order() ->
    Me = self(),
    P = spawn_opt(fun() ->
        spawn_opt(fun() -> Me ! other end, [{scheduler, 1}]),
        self() ! early,
        ok = erlang:hibernate(),
        Me ! woken
    end, [{scheduler, 1}]),
    t:p([receive other -> other; woken -> woken end || _ <- [1, 2]]),
    t:p(is_pid(P)).

%% A catch around it, and exit signals.
killed() ->
    P = spawn(fun() -> catch in_tail() end),
    M = monitor(process, P),
    hibernates(P),
    exit(P, why),
    receive {'DOWN', M, process, P, Why} -> t:p(Why) end,
    t:p({erlang:is_builtin(erlang, hibernate, 0), erlang:is_builtin(erlang, hibernate, 3)}),
    t:p(catch apply(erlang, hibernate, [1])).

hibernates(P) ->
    waits(P).
waits(P) ->
    case process_info(P, status) of
        {status, waiting} -> ok;
        _ -> erlang:yield(), waits(P)
    end.
