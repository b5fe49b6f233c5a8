%% What a process is told of its own messages: those that came since it last looked for some do not count,
%% unless it has sent itself something since then.
-module(own_message_queue).
-export([main/0]).

main() ->
    t:p(messages_of_others()),
    t:p(off_heap()),
    t:p(own_message()),
    t:p(own_exit_signal()),
    t:p(receive_takes_all()),
    t:p(receive_finds_none()),
    t:p(others_see_all()),
    t:p(counted_with_other_items()),
    t:p(a_signal_takes_over()).

%% Runs F(Told) in a process that busily waits, and so takes no message, until it was sent a, b and c.
busy(Options, F) ->
    Seen = atomics:new(1, []),
    {P, R} = spawn_opt(fun() -> wait_for(Seen, 1), exit({told, F()}) end, [monitor | Options]),
    [P ! M || M <- [a, b, c]],
    atomics:put(Seen, 1, 1),
    receive {'DOWN', R, _, _, {told, What}} -> What; {'DOWN', R, _, _, Why} -> {down, Why} end.

wait_for(A, N) ->
    case atomics:get(A, 1) of N -> ok; _ -> erlang:yield(), wait_for(A, N) end.

len() -> element(2, process_info(self(), message_queue_len)).
messages() -> element(2, process_info(self(), messages)).

messages_of_others() ->
    busy([], fun() ->
        Before = {len(), messages()},
        erlang:garbage_collect(),
        {Before, len(), messages()}
    end).

off_heap() ->
    busy([{message_queue_data, off_heap}], fun() ->
        Before = len(),
        erlang:garbage_collect(),
        Collected = len(),
        receive b -> ok end,
        {Before, Collected, len(), messages()}
    end).

own_message() ->
    busy([], fun() ->
        self() ! d,
        {process_info(self(), [messages, message_queue_len]), len()}
    end).

own_exit_signal() ->
    busy([], fun() ->
        process_flag(trap_exit, true),
        Self = self(),
        exit(self(), normal),
        {len(), [case M of {'EXIT', Self, W} -> {exit, W}; _ -> M end || M <- messages()]}
    end).

receive_takes_all() ->
    busy([], fun() ->
        receive c -> ok after 0 -> nothing end,
        First = {len(), messages()},
        receive a -> ok end,
        {First, len(), messages()}
    end).

%% Who looks for a message knows all, whether there was one that it wanted or not.
receive_finds_none() ->
    busy([], fun() -> receive x -> ok after 0 -> {len(), messages()} end end).

others_see_all() ->
    Seen = atomics:new(1, []),
    P = spawn(fun() -> wait_for(Seen, 1) end),
    [P ! M || M <- [a, b, c]],
    All = {process_info(P, message_queue_len), process_info(P, [messages, message_queue_len])},
    atomics:put(Seen, 1, 1),
    All.

counted_with_other_items() ->
    busy([], fun() ->
        {process_info(self(), [message_queue_len, trap_exit]),
         lists:keyfind(message_queue_len, 1, process_info(self()))}
    end).

%% An answer to a signal that others send is given in a turn, which takes the messages over.
a_signal_takes_over() ->
    Seen = atomics:new(1, []),
    {P, R} = spawn_monitor(fun() -> wait_for(Seen, 1), exit({told, len()}) end),
    [P ! M || M <- [a, b, c]],
    {links, []} = process_info(P, links),
    atomics:put(Seen, 1, 1),
    receive {'DOWN', R, _, _, {told, What}} -> What end.
