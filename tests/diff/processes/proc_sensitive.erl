%% process_flag(sensitive, true) hides what the manual lists, until it is cleared.
-module(proc_sensitive).
-export([main/0, f/1]).

main() ->
    t:p([{flag, process_flag(sensitive, F)} || F <- [true, true, false, false]]),
    [t:pc(fun() -> process_flag(sensitive, F) end) || F <- [1, [], maybe_not]],
    own(),
    other(),
    traced(),
    named(),
    flags_stay().

own() ->
    put(k, v),
    self() ! m,
    process_flag(sensitive, true),
    t:p(process_info(self(), [dictionary, messages, backtrace, message_queue_len])),
    t:p(get(k)),
    process_flag(sensitive, false),
    t:p(lists:member({k, v}, element(2, process_info(self(), dictionary)))),
    t:p(process_info(self(), messages)),
    t:p(byte_size(element(2, process_info(self(), backtrace))) > 20),
    receive m -> ok end.

other() ->
    S = self(),
    P = spawn(fun() -> put(a, b), process_flag(sensitive, true), S ! ready, wait(S) end),
    receive ready -> ok end,
    P ! secret,
    t:p(process_info(P, [dictionary, messages, backtrace, message_queue_len])),
    P ! {clear, S},
    receive cleared -> ok end,
    t:p(process_info(P, [dictionary, messages])),
    exit(P, kill).

wait(S) -> receive {clear, S} -> process_flag(sensitive, false), S ! cleared, wait(S) end.

f(X) -> X.

traced() ->
    S = self(),
    T = spawn(fun() -> collect([]) end),
    P = spawn(fun() -> receive go -> ok end, acts(S, hidden), process_flag(sensitive, false),
                       acts(S, shown), S ! over, receive stop -> ok end end),
    erlang:trace_pattern({?MODULE, f, 1}, true, [local]),
    1 = erlang:trace(P, true, [send, call, procs, {tracer, T}]),
    Sensitive = fun(_) -> ok end,
    Sensitive(P),
    P ! go,
    receive over -> ok end,
    R = erlang:trace_delivered(P),
    receive {trace_delivered, P, R} -> ok end,
    T ! {tell, self()},
    receive {told, All} -> [t:p(M) || M <- All] end,
    erlang:trace_pattern({?MODULE, f, 1}, false, [local]),
    P ! stop.

acts(S, Tag) ->
    Tag =:= hidden andalso process_flag(sensitive, true),
    S ! {Tag, 1},
    f(Tag),
    receive {never} -> ok after 0 -> ok end,
    receive {Tag, never} -> ok after 0 -> ok end.

collect(L) ->
    receive
        {tell, To} -> To ! {told, lists:reverse(L)};
        {trace, _, send, M, _} -> collect([{send, M} | L]);
        {trace, _, call, M} -> collect([{call, M} | L]);
        M -> collect([element(3, M) | L])
    end.

named() ->
    T = spawn(fun() -> collect([]) end),
    flush(),
    process_flag(sensitive, true),
    1 = erlang:trace(self(), true, [procs, {tracer, T}]),
    register(?MODULE, self()),
    unregister(?MODULE),
    process_flag(sensitive, false),
    register(?MODULE, self()),
    unregister(?MODULE),
    1 = erlang:trace(self(), false, [procs]),
    T ! {tell, self()},
    receive {told, All} -> t:p(All) end.

flags_stay() ->
    T = spawn(fun() -> collect([]) end),
    process_flag(sensitive, true),
    1 = erlang:trace(self(), true, [send, 'receive', call, {tracer, T}]),
    t:p(lists:sort(element(2, erlang:trace_info(self(), flags)))),
    t:p({tracer, T} =:= erlang:trace_info(self(), tracer)),
    1 = erlang:trace(self(), false, [all]),
    t:p(erlang:trace_info(self(), tracer)),
    process_flag(sensitive, false).

flush() -> receive _ -> flush() after 0 -> ok end.
