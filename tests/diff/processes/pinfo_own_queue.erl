%% What a process finds in its own queue while others send to it and it does not receive.
-module(pinfo_own_queue).
-export([main/0]).

main() ->
    t:p(len()),
    self() ! own,
    t:p(len()),
    sent([a, b]),
    t:p(len()),
    t:p(len()),
    sent([c]),
    t:p(process_info(self(), [messages, message_queue_len])),
    sent([d]),
    t:p(process_info(self(), [message_queue_len, messages])),
    sent([e]),
    t:p(process_info(self(), messages)),
    receive none -> ok after 0 -> ok end,
    t:p(len()),
    sent([f]),
    erlang:garbage_collect(),
    t:p(len()),
    sent([g]),
    receive g -> t:p(len()) end,
    self() ! i,
    t:p(process_info(self(), messages)).

len() -> element(2, process_info(self(), message_queue_len)).

%% Sends from another process; does not receive.
sent(Messages) ->
    {Me, Done} = {self(), atomics:new(1, [])},
    spawn(fun() -> [Me ! M || M <- Messages], atomics:put(Done, 1, 1) end),
    spin(Done).
spin(Done) ->
    case atomics:get(Done, 1) of
        1 -> ok;
        0 -> spin(Done)
    end.
