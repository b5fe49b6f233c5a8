%% Random concurrent programs for order_vm, the same for the same seed.
%%
%% A program is `{Roots, Phases}`: processes with their steps, and messages that are sent when all is
%% quiet. It uses some of the groups of steps below. What makes the order depend on time is left out:
%% turns stay far below 4,000 reductions, and timers of one phase are due at the same time or far apart. What
%% depends on the sizes of heaps is left out by the machines' flags (see `run`).
-module(order_gen).
-export([program/1]).

program(Seed) ->
    erase(),
    rand:seed(exsss, {Seed, 30, 25}),
    put(next, 100),
    Groups = groups(),
    put(roots, 2 + rand:uniform(5)),
    Roots = [{N, root(Groups)} || N <- lists:seq(1, get(roots))],
    Needs = fun(G) -> lists:member(G, Groups) end,
    Wait = case {Needs(timer), Needs(timer0) orelse Needs(priority)} of
               {true, _} -> 75;
               {_, true} -> 3;
               _ -> 0
           end,
    Phases = [{Wait, go()} || _ <- lists:seq(1, rand:uniform(4))],
    {Roots, Phases ++ [{Wait, []}]}.

groups() ->
    Optional = [{signal, 60}, {exit, 50}, {monitor, 50}, {alias, 15}, {info, 20}, {priority, 15},
                {register, 20}, {suspend, 15}, {leader, 10}, {collect, 10}, {ets, 20}, {timer, 4},
                {server, 15}, {statem, 8}, {supervisor, 6}, {proc_lib, 6}, {storm, 10},
                {hibernate, 10}, {table, 6}, {timer0, 8}],
    [message, spawn | [G || {G, Percent} <- Optional, rand:uniform(100) =< Percent]].

go() -> [{root_name(), rand:uniform(4)} || _ <- lists:seq(1, rand:uniform(4))].

root(Groups) ->
    % Half of them begin when the driver says so.
    case rand:uniform(2) of
        1 -> [{recv, any, infinity}];
        2 -> []
    end ++ steps(4 + rand:uniform(10), Groups, 0).

steps(Count, Groups, Depth) ->
    [step(Groups, Depth) || _ <- lists:seq(1, Count)].

%% To wait for good is half of what makes a process; but not all steps may be that.
step(Groups, Depth) ->
    case rand:uniform(10) of
        N when N =< 3 -> of_group(message, Groups, Depth);
        N when N =< 5 -> receive_step(Groups);
        _ -> of_group(one_of(Groups), Groups, Depth)
    end.


receive_step(Groups) ->
    Pattern = one_of([any, any, any, {tag, tag()}, {from, any_name()}, signal, ref, {not_from, any_name()}]),
    Long = lists:member(timer, Groups),
    case rand:uniform(5) of
        N when N =< 2 -> {recv, Pattern, 0};
        5 when Long -> {recv, Pattern, wait_time()};
        _ -> {recv, Pattern, infinity}
    end.

wait_time() -> one_of([20, 40, 60]).
tag() -> rand:uniform(4).
root_name() -> rand:uniform(get(roots)).
%% A root, or one of those that may have been started so far.
any_name() ->
    case get(next) of
        100 -> root_name();
        Next ->
            case rand:uniform(3) of
                1 -> 100 + rand:uniform(Next - 100) - 1;
                _ -> root_name()
            end
    end.
new_name() ->
    N = get(next),
    put(next, N + 1),
    N.
one_of(L) -> lists:nth(rand:uniform(length(L)), L).
reason() -> one_of([normal, normal, kill, killed, shutdown, {shutdown, x}, bad, noproc]).
registered_name() -> one_of([order_a, order_b, order_c]).

of_group(message, _, _) ->
    one_of([{send, any_name(), tag()}, {send, any_name(), tag()}, {send, any_name(), tag()},
            {send_many, [any_name() || _ <- lists:seq(1, 1 + rand:uniform(4))], tag()},
            {send_self, tag()}, yield, {ask, any_name(), tag()}, answer,
            {send_opts, any_name(), tag()}]);
of_group(spawn, Groups, Depth) when Depth < 2 ->
    Name = new_name(),
    How = one_of([spawn, spawn, spawn_link, spawn_monitor, {opt, [link, monitor]}, spawn_request]
                 ++ [{opt, [{priority, prio()}]} || lists:member(priority, Groups)]
                 ++ [{opt, [{priority, prio()}, link]} || lists:member(priority, Groups)]),
    {spawn, How, Name, steps(rand:uniform(6), Groups, Depth + 1)};
of_group(spawn, _, _) -> {send, any_name(), tag()};
of_group(signal, _, _) ->
    one_of([{link, any_name()}, {link, any_name()}, {unlink, any_name()},
            {trap_exit, true}, {trap_exit, true}, {trap_exit, false}]);
of_group(exit, _, _) ->
    one_of([{exit, any_name(), reason()}, {exit, any_name(), reason()}, {exit, any_name(), reason()},
            {exit, reason()}, {error, reason()}, {alive, any_name()}, {trap_exit, true}]);
of_group(monitor, Groups, _) ->
    Named = [{monitor_named, registered_name()} || lists:member(register, Groups)],
    one_of([{monitor, any_name()}, {monitor, any_name()}, {demonitor, rand:uniform(3) - 1, []},
            {demonitor, rand:uniform(3) - 1, [flush]}, {demonitor, rand:uniform(3) - 1, [info]},
            {demonitor, 0, [flush, info]},
            {monitor_opts, any_name(), [{tag, down}]}] ++ Named);
of_group(alias, _, _) ->
    one_of([{alias, []}, {alias, [reply]}, {alias, [explicit_unalias]}, {unalias, rand:uniform(2) - 1},
            {send_alias, any_name(), tag()}, {send_alias, any_name(), tag()},
            {monitor_opts, any_name(), [{alias, one_of([explicit_unalias, demonitor, reply_demonitor])}]}]);
of_group(info, _, _) ->
    Items = [message_queue_len, status, links, monitors, monitored_by, trap_exit, registered_name,
             priority, group_leader, current_function, messages, suspending, initial_call, dictionary],
    Some = [I || I <- Items, rand:uniform(6) =:= 1, I =/= dictionary],
    one_of([{info, any_name(), [one_of(Items -- [dictionary])]}, {info, any_name(), Some}, {my_info, Some},
            {info, any_name(), [links, monitors, monitored_by]}, {alive, any_name()}]);
of_group(priority, _, _) -> {priority, prio()};
of_group(register, _, _) ->
    one_of([{register, registered_name(), any_name()}, {register_self, registered_name()},
            {unregister, registered_name()}, {whereis, registered_name()},
            {send_named, registered_name(), tag()}, {send_named, registered_name(), tag()}]);
of_group(suspend, _, _) ->
    Opts = one_of([[], [], [unless_suspending], [asynchronous], [{asynchronous, tag()}]]),
    one_of([{suspend, any_name(), Opts}, {resume, any_name()}, {resume, any_name()}]);
of_group(leader, _, _) ->
    one_of([{group_leader, any_name(), any_name()}, my_group_leader]);
of_group(collect, _, _) ->
    one_of([{collect, any_name()}, {collect, any_name(), async, tag()}, collect, {check_code, any_name()}]);
of_group(ets, _, _) ->
    Key = one_of([x, y]),
    one_of([{add, Key}, {add, Key}, {put, Key, tag()}, {look, Key}]);
of_group(timer, _, _) ->
    one_of([{send_after, wait_time(), any_name(), tag()}, {start_timer, wait_time(), tag()}, {cancel, 0}]);
of_group(timer0, _, _) ->
    one_of([{send_after, 0, any_name(), tag()}, {start_timer, 0, tag()}, {cancel, 0}]);
of_group(storm, Groups, Depth) when Depth < 2 ->
    {storm, 2 + rand:uniform(20), steps(rand:uniform(3), Groups -- [storm], 2)};
of_group(storm, _, _) -> yield;
of_group(hibernate, _, Depth) when Depth < 3 -> hibernate;
of_group(hibernate, _, _) -> yield;
of_group(server, Groups, Depth) -> server(gs_start, Groups, Depth);
of_group(statem, Groups, Depth) -> server(st_start, Groups, Depth);
of_group(supervisor, Groups, Depth) when Depth < 2 ->
    case {get(supervisor), rand:uniform(3)} of
        {S, R} when S =:= undefined; R =:= 1 ->
            Name = new_name(),
            put(supervisor, Name),
            Strategy = one_of([one_for_one, one_for_all, rest_for_one]),
            Children = [{new_name(), one_of([permanent, transient, temporary]),
                         one_of([brutal_kill, 60000]),
                         child_steps(Groups, Depth)} || _ <- lists:seq(1, rand:uniform(3))],
            {sup_start, Name, {Strategy, Children}};
        {S, 2} ->
            {sup_do, S, one_of([terminate_child, restart_child, delete_child]), S + rand:uniform(3)};
        {S, 3} -> one_of([{sup_children, S}, {exit, S + rand:uniform(3), reason()}])
    end;
of_group(supervisor, _, _) -> yield;
of_group(proc_lib, Groups, Depth) when Depth < 2 ->
    {proc_lib, one_of([start, start_link]), new_name(), child_steps(Groups, Depth)};
of_group(proc_lib, _, _) -> yield;
of_group(table, _, _) ->
    one_of([{own_table, any_name()}, {give_table, any_name()}]).

%% Nothing that may wait for its own supervisor; they stay.
child_steps(Groups, Depth) ->
    steps(rand:uniform(3), Groups -- [supervisor, server, statem, proc_lib, hibernate], Depth + 2)
        ++ [{recv, any, infinity}].

server(Start, Groups, Depth) ->
    case {get(Start), rand:uniform(4)} of
        {S, R} when S =:= undefined; R =:= 1 ->
            Name = new_name(),
            put(Start, Name),
            {Start, one_of([start, start_link]), Name};
        {S, 2} -> {call, S, server_steps(Groups, Depth)};
        {S, 3} -> {cast, S, server_steps(Groups, Depth)};
        {S, 4} -> one_of([{stop, S, reason()}, {call, S, []}, {cast, S, []}, {send, S, tag()}])
    end.

%% What a server does in a callback.
server_steps(Groups, Depth) when Depth < 3 ->
    [S || S <- steps(rand:uniform(2), Groups -- [server, statem, hibernate, supervisor], Depth + 3),
          S =/= hibernate];
server_steps(_, _) -> [].

prio() -> one_of([low, low, normal, normal, high, max]).
