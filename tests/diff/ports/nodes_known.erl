%% nodes(known): nodes are known as long as a term refers to one of their pids, ports or references, in a
%% heap, a mailbox, a table, a timer, a match specification or a persistent term. And what
%% node_and_dist_references says of who holds them.
-module(nodes_known).
-export([main/0]).

main() ->
    ok = logger:set_primary_config(level, none),
    _ = erts_debug:set_internal_state(available_internal_state, true),
    t:p(delay, erts_debug:set_internal_state(node_tab_delayed_delete, 0)),
    t:pc(bad_delay, fun() -> erts_debug:set_internal_state(node_tab_delayed_delete, soon) end),
    t:p(nobody, known()),
    put(pid, pid_of("heap@host")),
    put(port, port_of("port@host")),
    put(ref, ref_of("ref@host")),
    t:p(heap, known()),
    t:p(with_others, lists:sort(nodes([this, known]))),
    t:p(this, nodes([this, connected])),
    t:p(infos, lists:sort(nodes(known, #{node_type => true, connection_id => true}))),
    t:pc(bad, fun() -> nodes([known, #{}]) end),
    places(),
    shared_program(),
    gone().

places() ->
    Table = ets:new(places, [named_table, public]),
    ets:insert(Table, [{N, pid_of("table@host")} || N <- [1, 2, 3]]),
    t:p(table, held("table@host")),
    Idle = spawn(fun() -> receive stop -> ok end end),
    Idle ! {pid_of("message@host"), pid_of("message@host")},
    t:p(message, held("message@host", Idle)),
    Pid = pid_of("timer@host"),
    Timers = [erlang:start_timer(1000000, Idle, [Pid]), erlang:send_after(1000000, nobody, [Pid, Pid]),
              erlang:send_after(1000000, self(), Pid)],
    put(timer, Pid),
    t:p(timer, held("timer@host", Idle)),
    [erlang:cancel_timer(T) || T <- Timers],
    persistent_term:put(places, {1, pid_of("persistent@host"), "text"}),
    t:p(persistent, held("persistent@host")),
    put(program, ets:match_spec_compile([{{'$1', pid_of("program@host")}, [], ['$1']}])),
    t:p(program, held("program@host")),
    {[1], Continued} = ets:select(Table, [{{'$1', pid_of("table@host")}, [{'=<', '$1', 1}], ['$1']}], 1),
    put(continued, Continued),
    t:p(known()),
    exit(Idle, kill).

%% A program counts once, whoever has it.
shared_program() ->
    Program = ets:match_spec_compile([{pid_of("shared@host"), [], ['$_']}]),
    ets:insert(places, {program, Program}),
    Self = self(),
    Other = spawn_link(fun() -> put(program, Program), Self ! ready, receive stop -> ok end end),
    receive ready -> ok end,
    persistent_term:put(program, Program),
    t:p(shared, held("shared@host")),
    unlink(Other),
    exit(Other, kill),
    put(shared, Program).

%% Who is referred to no more is not known either.
gone() ->
    erase(),
    true = ets:delete(places),
    [persistent_term:erase(K) || K <- [places, program]],
    t:await(fun() -> [garbage_collect(P) || P <- processes()], known() =:= [node()] end),
    t:p(gone, known()).

known() -> lists:sort(nodes(known)).

%% Of garbage that is still in this process's heap nothing is said.
held(Name) -> held(Name, none).
held(Name, Idle) ->
    garbage_collect(),
    {{node_references, Nodes}, _} = erts_debug:get_internal_state(node_and_dist_references),
    Node = {list_to_atom(Name), 1},
    {Node, _, Holders} = lists:keyfind(Node, 1, Nodes),
    lists:sort([{holder(H, Idle), lists:sort(Counts)} || {H, Counts} <- Holders]).

holder({process, Pid}, _) when Pid =:= self() -> self;
holder({process, Pid}, Pid) -> idle;
holder({match_spec, Address}, _) when is_integer(Address) -> match_spec;
holder(Other, _) -> Other.

pid_of(Name) -> made([103, name(Name), <<18:32, 0:32, 1>>]).
port_of(Name) -> made([102, name(Name), <<18:32, 1>>]).
ref_of(Name) -> made([114, <<3:16>>, name(Name), <<1, 47:32, 11:32, 4711:32>>]).
name(Name) -> [100, <<(length(Name)):16>>, Name].
made(Data) -> binary_to_term(iolist_to_binary([131, Data])).
