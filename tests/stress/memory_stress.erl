%% What is freed goes back to the system: memory of each kind is filled and freed, once on a node that is
%% idle afterwards and once beside processes that are busy on all schedulers, and the program has to
%% become as small as 1.25 times what it was before, and 16 MB. It has a minute: nothing but the bound is
%% looked at.
-module(memory_stress).
-export([main/0]).

-define(SLACK, 16).
-define(DEADLINE, 60000).

main() ->
    Kinds = [binaries_of_100, binaries_of_1024, binaries_of_10000, binaries_of_102400,
             binaries_of_1000000, heaps, large_heaps, tables, rows, tree, mailbox, timers, literals, small_literals],
    Failed = [{Kind, Mode, Now, Limit} || Kind <- Kinds, Mode <- [idle, busy],
              {Now, Limit} <- one(Kind, Mode), Now > Limit],
    [io:format("memory: ~p, ~p: ~p MB are left, of ~p that may be~n", tuple_to_list(F)) || F <- Failed],
    io:format("memory: ~p kinds, ~p failed~n", [length(Kinds), length(Failed)]),
    halt(min(1, length(Failed))).

%% In a process of its own, so that nothing of it is left on a heap.
one(Kind, Mode) ->
    Self = self(),
    {Pid, Ref} = spawn_monitor(fun() -> Self ! {self(), run(Kind, Mode)} end),
    receive
        {Pid, Result} -> receive {'DOWN', Ref, _, _, _} -> [Result] end;
        {'DOWN', Ref, _, _, Reason} -> exit({Kind, Mode, Reason})
    end.

run(Kind, Mode) ->
    Limit = resident() * 5 div 4 + ?SLACK,
    Free = fill(Kind),
    Filled = resident(),
    Filled > Limit orelse exit({too_little, Filled, Limit}),
    Busy = [spawn(fun Loop() -> lists:seq(1, 1000), Loop() end)
            || Mode =:= busy, _ <- lists:seq(1, erlang:system_info(schedulers))],
    Free(),
    garbage_collect(),
    Now = wait(Limit, erlang:monotonic_time(millisecond) + ?DEADLINE),
    [exit(P, kill) || P <- Busy],
    {Now, Limit}.

wait(Limit, End) ->
    case resident() of
        N when N =< Limit -> N;
        N ->
            case erlang:monotonic_time(millisecond) > End of
                true -> N;
                false -> timer:sleep(100), wait(Limit, End)
            end
    end.

%% MB.
resident() ->
    {ok, B} = file:read_file("/proc/self/statm"),
    [_, Pages | _] = string:lexemes(binary_to_list(B), " "),
    list_to_integer(Pages) * 4 div 1024.

%% Each fills some 100 MB, and answers what frees them.
fill(binaries_of_100) -> holders(10, fun() -> [binary:copy(<<0>>, 100) || _ <- lists:seq(1, 50000)] end);
fill(binaries_of_1024) -> holders(10, fun() -> [binary:copy(<<0>>, 1024) || _ <- lists:seq(1, 10000)] end);
fill(binaries_of_10000) -> holders(10, fun() -> [binary:copy(<<0>>, 10000) || _ <- lists:seq(1, 1000)] end);
fill(binaries_of_102400) -> holders(10, fun() -> [binary:copy(<<0>>, 102400) || _ <- lists:seq(1, 100)] end);
fill(binaries_of_1000000) -> holders(10, fun() -> [binary:copy(<<0>>, 1000000) || _ <- lists:seq(1, 10)] end);
fill(heaps) -> holders(1000, fun() -> lists:seq(1, 10000) end);
fill(large_heaps) -> holders(5, fun() -> lists:seq(1, 2000000) end);
fill(tables) ->
    T = ets:new(?MODULE, [public]),
    [ets:insert(T, {I, binary:copy(<<0>>, 1024)}) || I <- lists:seq(1, 100000)],
    fun() -> ets:delete(T) end;
fill(rows) ->
    T = table(set, 300000, lists:seq(1, 20)),
    fun() -> ets:delete_all_objects(T) end;
fill(tree) ->
    T = table(ordered_set, 300000, lists:seq(1, 20)),
    fun() -> ets:delete(T) end;
fill(mailbox) ->
    Pid = spawn(fun() -> receive go -> drain() end, receive stop -> ok end end),
    send(Pid, 400000),
    fun() -> Pid ! go, empty(Pid), garbage_collect(Pid) end;
fill(timers) ->
    Timers = [erlang:send_after(100000000, self(), {timer, lists:seq(1, 10)}) || _ <- lists:seq(1, 300000)],
    fun() -> [erlang:cancel_timer(T) || T <- Timers] end;
fill(literals) ->
    persistent_term:put(?MODULE, binary_to_term(term_to_binary(lists:seq(1, 6000000)))),
    fun() -> persistent_term:erase(?MODULE) end;
fill(small_literals) ->
    [persistent_term:put({?MODULE, I}, lists:seq(1, 1000)) || I <- lists:seq(1, 6000)],
    fun() -> [persistent_term:erase({?MODULE, I}) || I <- lists:seq(1, 6000)] end.

holders(N, Make) ->
    Self = self(),
    Pids = [spawn_link(fun() -> Kept = Make(), Self ! {self(), made}, receive go -> Kept end end)
            || _ <- lists:seq(1, N)],
    [receive {P, made} -> ok end || P <- Pids],
    fun() -> [begin unlink(P), exit(P, kill) end || P <- Pids] end.

table(Kind, N, Value) ->
    T = ets:new(?MODULE, [Kind, public]),
    [ets:insert(T, {I, Value}) || I <- lists:seq(1, N)],
    T.

send(_, 0) -> ok;
send(Pid, N) -> Pid ! {message, N, lists:seq(1, 20)}, send(Pid, N - 1).
drain() -> receive _ -> drain() after 0 -> ok end.
empty(Pid) ->
    case process_info(Pid, message_queue_len) of
        {_, 0} -> ok;
        _ -> timer:sleep(10), empty(Pid)
    end.
