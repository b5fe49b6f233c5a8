%% What a waiting process is charged for when another asks for something that only it can tell: nothing for what can be
%% looked up, one reduction for each question that it has to answer.
-module(info_reductions).
-export([main/0]).

main() ->
    P = spawn(fun wait/0),
    idle(P),
    [io:format("~p: ~p~n", [Asked, growth(P, Asked)]) ||
        Asked <- [reductions, [reductions], status, heap_size, [trap_exit, heap_size], message_queue_len,
                  links, messages, memory, dictionary, current_function, current_stacktrace,
                  [links, monitors, memory], [heap_size, links]]],
    io:format("all: ~p~n", [growth(P, fun() -> process_info(P) end)]),
    io:format("alive: ~p~n", [growth(P, fun() -> is_process_alive(P) end)]).

growth(P, F) when is_function(F) ->
    Before = reductions(P),
    [F() || _ <- [1, 2, 3]],
    reductions(P) - Before;
growth(P, Item) -> growth(P, fun() -> process_info(P, Item) end).

reductions(P) -> {reductions, R} = process_info(P, reductions), R.
wait() -> receive stop -> ok end.

%% It has come to its `receive`.
idle(P) ->
    case process_info(P, [status, current_function]) of
        [{status, waiting}, {current_function, {?MODULE, wait, 0}}] -> ok;
        _ -> erlang:yield(), idle(P)
    end.
