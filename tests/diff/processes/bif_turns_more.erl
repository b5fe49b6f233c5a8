%% After which calls another process of the same scheduler, runnable since before, has run: calls that in
%% OTP trap, wait, or go to another thread end the turn of their process, others do not.
-module(bif_turns_more).
-export([main/0]).

main() ->
    {P, M} = spawn_opt(fun all/0, [monitor, {scheduler, 1}]),
    receive {'DOWN', M, process, P, normal} -> halt() end.

all() ->
    [show(Group, Calls) || {Group, Calls} <- [{open_ports, open_ports()}, {values, values()},
                                              {processes, of_processes()}, {system, system()}, {trace, trace()}]],
    [show(Kind, Calls, fun() -> table(Kind) end) || Kind <- [set, ordered_set, bag], Calls <- [tables()]],
    show(ports, ports(), fun() -> open_port({spawn, "cat"}, []) end),
    show(listening, listening(), fun listener/0),
    show(connected, connected(), fun pair/0),
    show(datagrams, datagrams(), fun udp/0),
    show(received, received(), fun filled/0),
    show(unread, unread(), fun() -> self() ! unread, self() end),
    show(sockets, sockets(), fun() -> {ok, S} = socket:open(inet, dgram), S end).

show(Group, Calls) -> show(Group, Calls, fun() -> none end).
show(Group, Calls, Prepare) ->
    t:p({Group, [Name || {Name, Call} <- Calls, ended_turn(Call, Prepare)]}).

%% Once to load what the call needs, then once more.
ended_turn(Call, Prepare) ->
    _ = attempt(Call, Prepare),
    attempt(Call, Prepare).

attempt(Call, Prepare) ->
    S = self(),
    {P, M} = spawn_opt(fun() -> S ! {self(), measure(Call, Prepare())} end,
                       [monitor, {scheduler, 1}, {min_heap_size, 500000}, {min_bin_vheap_size, 500000}]),
    Ran = receive {P, R} -> R end,
    receive {'DOWN', M, process, P, _} -> Ran end.

measure(Call, Prepared) ->
    Ran = counters:new(1, []),
    Other = spawn_opt(fun() -> receive go -> counters:add(Ran, 1, 1) end end, [{scheduler, 1}]),
    erlang:yield(),
    erlang:yield(),
    Other ! go,
    0 = counters:get(Ran, 1),
    catch if is_function(Call, 0) -> Call(); true -> Call(Prepared) end,
    counters:get(Ran, 1) =:= 1.

table(Kind) ->
    T = ets:new(t, [Kind, public]),
    ets:insert(T, [{I, I} || I <- lists:seq(1, 100)]),
    T.

tables() ->
    All = [{'_', [], ['$_']}],
    [{lookup, fun(T) -> ets:lookup(T, 1) end},
     {insert, fun(T) -> ets:insert(T, [{200, 1}, {201, 1}]) end},
     {delete, fun(T) -> ets:delete(T) end},
     {delete_all_objects, fun(T) -> ets:delete_all_objects(T) end},
     {next, fun(T) -> ets:next(T, 1) end},
     {info, fun(T) -> ets:info(T) end},
     {rename, fun(T) -> ets:rename(T, x) end},
     {tab2list, fun(T) -> ets:tab2list(T) end},
     {match, fun(T) -> ets:match(T, {'$1', 5}) end},
     {match_10, fun(T) -> ets:match(T, {'$1', '_'}, 10) end},
     {match_object_1000, fun(T) -> ets:match_object(T, {'$1', '_'}, 1000) end},
     {match_none, fun(T) -> ets:match(T, {'$1', x}, 10) end},
     {match_delete, fun(T) -> ets:match_delete(T, {'$1', '_'}) end},
     {select, fun(T) -> ets:select(T, All) end},
     {select_10, fun(T) -> ets:select(T, All, 10) end},
     {select_key, fun(T) -> ets:select(T, [{{1, '_'}, [], ['$_']}], 10) end},
     {select_keys, fun(T) -> ets:select(T, [{{K, '_'}, [], ['$_']} || K <- [1, 2]], 10) end},
     {select_continued, fun(T) -> continue(T, All) end},
     {select_reverse, fun(T) -> ets:select_reverse(T, All) end},
     {select_reverse_10, fun(T) -> ets:select_reverse(T, All, 10) end},
     {select_count, fun(T) -> ets:select_count(T, [{'_', [], [true]}]) end},
     {select_delete, fun(T) -> ets:select_delete(T, [{'_', [], [true]}]) end}].

continue(T, Spec) ->
    put(continuation, ets:select(T, Spec, 100)),
    ets:select(element(2, get(continuation))).

open_ports() ->
    [{spawn, fun() -> open_port({spawn, "cat"}, []) end},
     {no_such_command, fun() -> open_port({spawn, "no_such_command 2>&-"}, []) end},
     {spawn_executable, fun() -> open_port({spawn_executable, "/bin/cat"}, []) end},
     {no_such_executable, fun() -> open_port({spawn_executable, "/none"}, []) end},
     {no_such_driver, fun() -> open_port({spawn_driver, "none_drv"}, []) end},
     {driver, fun() -> open_port({spawn_driver, "tcp_inet"}, []) end}].

ports() ->
    [{command, fun(P) -> erlang:port_command(P, "a") end},
     {send, fun(P) -> P ! {self(), {command, "a"}} end},
     {close, fun(P) -> erlang:port_close(P) end},
     {info, fun(P) -> erlang:port_info(P, os_pid) end},
     {connect, fun(P) -> erlang:port_connect(P, self()) end},
     {control, fun(P) -> erlang:port_control(P, 1, "") end},
     {call, fun(P) -> erlang:port_call(P, 1, "") end},
     {monitor, fun(P) -> demonitor(monitor(port, P)) end}].

listener() ->
    {ok, L} = gen_tcp:listen(0, [{active, false}, {ip, {127, 0, 0, 1}}]),
    L.
listening() ->
    [{port, fun(L) -> inet:port(L) end},
     {getopts, fun(L) -> inet:getopts(L, [active, recbuf]) end},
     {setopts, fun(L) -> inet:setopts(L, [{recbuf, 10000}]) end},
     {getstat, fun(L) -> inet:getstat(L) end},
     {close, fun(L) -> gen_tcp:close(L) end}].

pair() ->
    L = listener(),
    {ok, N} = inet:port(L),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, N, [{active, false}]),
    {ok, _} = gen_tcp:accept(L),
    C.
connected() ->
    [{send, fun(C) -> gen_tcp:send(C, "abc") end},
     {shutdown, fun(C) -> gen_tcp:shutdown(C, write) end},
     {controlling_process, fun(C) -> gen_tcp:controlling_process(C, self()) end},
     {active_once, fun(C) -> inet:setopts(C, [{active, once}]) end},
     {peername, fun(C) -> inet:peername(C) end},
     {close, fun(C) -> gen_tcp:close(C) end}].

filled() ->
    L = listener(),
    {ok, N} = inet:port(L),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, N, [{active, false}]),
    {ok, S} = gen_tcp:accept(L),
    ok = gen_tcp:send(C, "abcdef"),
    {ok, _} = gen_tcp:recv(S, 3),
    S.
received() ->
    [{recv, fun(S) -> gen_tcp:recv(S, 3) end},
     {recv_in_time, fun(S) -> gen_tcp:recv(S, 3, 1000) end}].

%% With a message in the queue that the process has not looked at.
unread() ->
    Port = hd(erlang:ports()),
    Me = self(),
    Dead = dead(),
    [{port_info, fun(_) -> erlang:port_info(Port, name) end},
     {port_info_twice, fun(_) -> erlang:port_info(Port, name), erlang:yield(), erlang:port_info(Port, name) end},
     {port_control, fun(_) -> erlang:port_control(Port, 1, "") end},
     {info, fun(_) -> process_info(Me, message_queue_len) end},
     {info_of_dead, fun(_) -> process_info(Dead, message_queue_len) end},
     {is_alive, fun(_) -> is_process_alive(Me) end},
     {is_dead_alive, fun(_) -> is_process_alive(Dead) end},
     {own_info, fun(P) -> process_info(P, message_queue_len) end},
     {own_messages, fun(P) -> process_info(P, messages) end},
     {group_leader, fun(P) -> group_leader(group_leader(), P) end},
     {monitor, fun(_) -> monitor(process, Me) end},
     {link, fun(_) -> link(Me) end},
     {unlink, fun(_) -> unlink(Me) end},
     {collect, fun(_) -> garbage_collect() end},
     {send, fun(_) -> Me ! x end},
     {receive_none, fun(_) -> receive none -> ok after 0 -> ok end end}].

udp() ->
    {ok, U} = gen_udp:open(0, [{active, false}, {ip, {127, 0, 0, 1}}]),
    U.
datagrams() ->
    [{open, fun(_) -> gen_udp:open(0, []) end},
     {send, fun(U) -> gen_udp:send(U, {127, 0, 0, 1}, 9, "a") end},
     {close, fun(U) -> gen_udp:close(U) end}].

sockets() ->
    [{open, fun(_) -> socket:open(inet, dgram) end},
     {sockname, fun(S) -> socket:sockname(S) end},
     {getopt, fun(S) -> socket:getopt(S, {socket, rcvbuf}) end},
     {close, fun(S) -> socket:close(S) end}].

values() ->
    L = lists:seq(1, 50),
    B = binary:copy(<<"abc,de">>, 20),
    M = maps:from_list([{I, I} || I <- L]),
    [{append, fun() -> L ++ L end}, {subtract, fun() -> L -- [1, 50] end}, {reverse, fun() -> lists:reverse(L, L) end},
     {phash2, fun() -> erlang:phash2(M) end}, {md5, fun() -> erlang:md5(B) end}, {crc32, fun() -> erlang:crc32(B) end},
     {term_to_binary, fun() -> term_to_binary(M) end}, {binary_to_term, fun() -> binary_to_term(<<131, 97, 1>>) end},
     {list_to_binary, fun() -> list_to_binary([B, L]) end}, {iolist_to_iovec, fun() -> erlang:iolist_to_iovec([B, L]) end},
     {split, fun() -> binary:split(B, <<",">>) end}, {matches, fun() -> binary:matches(B, <<",">>) end},
     {characters_to_binary, fun() -> unicode:characters_to_binary([B, L]) end},
     {characters_to_list, fun() -> unicode:characters_to_list(B) end}, {run, fun() -> re:run(B, "d") end},
     {maps_merge, fun() -> maps:merge(M, #{a => 1}) end}, {compress, fun() -> zlib:compress(B) end},
     {put, fun() -> persistent_term:put(?MODULE, erlang:unique_integer()) end},
     {put_same, fun() -> persistent_term:put({?MODULE, same}, 1) end},
     {erase_none, fun() -> persistent_term:erase({?MODULE, none}) end}].

idle() -> spawn_opt(fun Idle() -> receive stop -> ok; _ -> Idle() end end, [{scheduler, 1}]).
dead() ->
    {P, M} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', M, process, P, normal} -> P end.

of_processes() ->
    Me = self(),
    Dead = dead(),
    [{spawn, fun() -> spawn(fun() -> ok end) end}, {spawn_monitor, fun() -> spawn_monitor(fun() -> ok end) end},
     {spawn_request, fun() -> spawn_request(fun() -> ok end) end}, {link, fun() -> link(idle()) end},
     {monitor, fun() -> monitor(process, Me) end}, {monitor_dead, fun() -> monitor(process, Dead) end},
     {demonitor_none, fun() -> demonitor(make_ref()) end}, {flush_none, fun() -> demonitor(make_ref(), [flush]) end},
     {exit, fun() -> exit(idle(), kill) end}, {is_alive, fun() -> is_process_alive(Me) end},
     {info, fun() -> process_info(idle(), message_queue_len) end}, {own_info, fun() -> process_info(self()) end},
     {group_leader, fun() -> group_leader(group_leader(), self()) end}, {collect, fun() -> garbage_collect() end},
     {collect_other, fun() -> garbage_collect(idle()) end}, {check, fun() -> erlang:check_process_code(idle(), lists) end},
     {suspend, fun() -> erlang:suspend_process(idle()) end}, {sensitive, fun() -> process_flag(sensitive, true) end},
     {save_calls, fun() -> process_flag(save_calls, 10) end}, {priority, fun() -> process_flag(priority, normal) end},
     {queue_data, fun() -> process_flag(message_queue_data, off_heap) end},
     {cancel_none, fun() -> erlang:cancel_timer(make_ref()) end},
     {cancel, fun() -> erlang:cancel_timer(erlang:start_timer(100000, self(), x)) end},
     {receive_none, fun() -> receive x -> ok after 0 -> ok end end}, {yield, fun() -> erlang:yield() end}].

system() ->
    [{allocator, fun() -> erlang:system_info({allocator, ll_alloc}) end},
     {allocator_sizes, fun() -> erlang:system_info({allocator_sizes, ets_alloc}) end},
     {process_count, fun() -> erlang:system_info(process_count) end}]
        ++ [{Item, fun() -> statistics(Item) end}
            || Item <- [garbage_collection, io, reductions, run_queue, runtime, scheduler_wall_time, wall_clock,
                        microstate_accounting]]
        ++ [{reset, fun() -> erlang:system_flag(microstate_accounting, reset) end},
            {processes, fun() -> erlang:processes() end}, {ports, fun() -> erlang:ports() end}, {nodes, fun() -> nodes() end},
            {delete_module, fun() -> erlang:delete_module(no_such_module) end}, {os_getenv, fun() -> os:getenv("HOME") end},
            {localtime, fun() -> erlang:localtime() end}].

trace() ->
    [{trace, fun() -> erlang:trace(idle(), true, [call]) end}, {trace_info, fun() -> erlang:trace_info(self(), flags) end},
     {pattern, fun() -> erlang:trace_pattern({foo, bar, 1}, true, []) end},
     {local_pattern, fun() -> erlang:trace_pattern({lists, keysort, 2}, true, [local]) end},
     {no_local_pattern, fun() -> erlang:trace_pattern({lists, keysort, 2}, false, [local]) end},
     {pattern_of_sends, fun() -> erlang:trace_pattern(send, true, []) end},
     {pattern_on_load, fun() -> erlang:trace_pattern(on_load, false, []) end},
     {delivered, fun() -> erlang:trace_delivered(idle()) end}].
