%% Large heaps are collected while others run, on one scheduler too: a process that counts its turns has
%% had many when a collection is over. What is sent to a process meanwhile is handled afterwards.
-module(long_collections).
-export([main/0]).

%% Words of a list are two each.
-define(CELLS, 3000000).

main() ->
    Counter = counters:new(1, []),
    spawn(fun() -> count(Counter) end),
    %% Its own request, and that of others.
    t:p([own, in_owner(fun(_) -> between(Counter, fun() -> erlang:garbage_collect() end) end)]),
    t:p([minor, in_owner(fun(_) ->
        between(Counter, fun() -> erlang:garbage_collect(self(), [{type, minor}]) end)
    end)]),
    Big = owner(),
    t:p([others, between(Counter, fun() -> erlang:garbage_collect(Big) end)]),
    t:p([async, erlang:garbage_collect(Big, [{async, id}]), receive {garbage_collect, id, A} -> A end]),
    %% The collection is over when the call returns.
    t:p([done, in_owner(fun(Made) ->
        erlang:garbage_collect(self(), [{type, minor}]),
        Minors = minors(),
        erlang:garbage_collect(),
        {garbage_collection_info, Info} = process_info(self(), garbage_collection_info),
        Live = proplists:get_value(heap_size, Info) + proplists:get_value(old_heap_size, Info),
        {Minors > 0, minors(), Live >= 2 * ?CELLS, length(Made)}
    end)]),
    %% Signals that come meanwhile.
    Refs = [begin
        erlang:garbage_collect(Big, [{async, I}]),
        Big ! {hello, self(), I},
        {_, _} = process_info(Big, message_queue_len),
        I
    end || I <- [1, 2, 3]],
    t:p([signals, [receive {garbage_collect, I, R} -> R end || I <- Refs], [receive {hello, I} -> I end || I <- Refs]]),
    M = monitor(process, Big),
    erlang:garbage_collect(Big, [{async, last}]),
    exit(Big, kill),
    t:p([killed, receive {'DOWN', M, process, Big, Why} -> Why end, is_process_alive(Big)]),
    receive {garbage_collect, last, _} -> ok after 0 -> ok end,
    %% Suspended, and resumed.
    Other = owner(),
    true = erlang:suspend_process(Other),
    t:p([suspended, erlang:garbage_collect(Other)]),
    Other ! {hello, self(), suspended},
    t:p([silent, receive {hello, suspended} -> answered after 50 -> none end]),
    true = erlang:resume_process(Other),
    t:p([resumed, receive {hello, X} -> X end]),
    %% Hibernation.
    Other ! hibernate,
    until(fun() -> process_info(Other, current_function) =:= {current_function, {erlang, hibernate, 3}} end),
    {total_heap_size, Words} = process_info(Other, total_heap_size),
    Other ! {hello, self(), awake},
    t:p([hibernated, receive {hello, Y} -> Y end, Words >= 2 * ?CELLS, Words < 3 * ?CELLS]),
    exit(Other, kill),
    %% A heap that grows too large in such a collection.
    {L, LM} = spawn_opt(fun() -> grow([]) end,
        [monitor, {max_heap_size, #{size => 5000000, kill => true, error_logger => false}}]),
    t:p([limit, receive {'DOWN', LM, process, L, Reason} -> Reason end]),
    %% Tracers are told of both ends, in this order.
    Traced = owner(),
    1 = erlang:trace(Traced, true, [garbage_collection]),
    true = erlang:garbage_collect(Traced),
    1 = erlang:trace(Traced, false, [garbage_collection]),
    t:p([traced, events(Traced)]),
    exit(Traced, kill).

minors() ->
    {garbage_collection, Info} = process_info(self(), garbage_collection),
    proplists:get_value(minor_gcs, Info).

count(Counter) ->
    counters:add(Counter, 1, 1),
    erlang:yield(),
    count(Counter).
between(Counter, F) ->
    Before = counters:get(Counter, 1),
    R = F(),
    {R, counters:get(Counter, 1) > Before + 50}.

%% A process that holds much, and answers.
owner() ->
    Self = self(),
    P = spawn(fun() -> Made = lists:seq(1, ?CELLS), Self ! {ready, self()}, hold(Made) end),
    receive {ready, P} -> P end.
hold(Made) ->
    receive
        {hello, From, I} when hd(Made) =:= 1 -> From ! {hello, I}, hold(Made);
        hibernate -> erlang:hibernate(erlang, apply, [fun hold/1, [Made]])
    end.
in_owner(F) ->
    Self = self(),
    spawn(fun() -> Made = lists:seq(1, ?CELLS), R = F(Made), Self ! {result, R, hd(Made)} end),
    receive {result, R, 1} -> R end.

grow(L) -> grow([{self(), L} | L]).

until(F) -> case F() of true -> ok; false -> timer:sleep(5), until(F) end.

events(P) ->
    receive {trace, P, Event, _} -> [Event | events(P)] after 200 -> [] end.
