%% since 28
%% erlang:hibernate/0 waits for a message and keeps the stack.
-module(since28_hibernate).
-export([main/0]).

main() ->
    Me = self(),
    %% until a message comes
    P = spawn_link(fun() -> Me ! {self(), nested(3)} end),
    hibernates(P),
    t:p(process_info(P, [status, message_queue_len])),
    P ! one,
    receive {P, R} -> t:p(R) end,
    %% messages that are there already
    self() ! a, self() ! b,
    t:p(erlang:hibernate()),
    t:p(receive b -> b end),
    t:p(erlang:hibernate()),
    t:p(receive a -> a end),
    %% a signal that is no message does not end it
    Q = spawn(fun() -> process_flag(trap_exit, true), erlang:hibernate(), Me ! {self(), take()} end),
    hibernates(Q),
    t:p(is_list(process_info(Q, messages)) orelse process_info(Q, message_queue_len)),
    true = erlang:suspend_process(Q),
    true = erlang:resume_process(Q),
    garbage_collect(Q),
    hibernates(Q),
    exit(Q, why),
    receive {Q, S} -> t:p(t:plain(S)) end,
    %% one that is killed
    {K, M} = spawn_monitor(fun() -> erlang:hibernate() end),
    hibernates(K),
    exit(K, kill),
    receive {'DOWN', M, process, K, Why} -> t:p(Why) end,
    %% a timer, many times, and as a fun's call
    erlang:send_after(5, self(), timer),
    t:p({erlang:hibernate(), receive timer -> timer end}),
    F = fun erlang:hibernate/0,
    t:p([begin self() ! N, ok = F(), receive N -> N end end || N <- lists:seq(1, 5)]),
    t:p([begin self() ! N, ok = apply(erlang, hibernate, []), receive N -> N end end || N <- [6, 7]]),
    %% heap and stack stay what they are
    Big = lists:seq(1, 10000),
    W = spawn_link(fun() -> L = [X * 2 || X <- Big], ok = erlang:hibernate(), Me ! {self(), lists:sum(L), take()} end),
    hibernates(W),
    W ! {tuple, lists:duplicate(1000, x)},
    receive {W, Sum, {tuple, L}} -> t:p({Sum, length(L)}) end.

nested(0) -> ok = erlang:hibernate(), [take()];
nested(N) -> [N | nested(N - 1)].

take() -> receive X -> X after 0 -> none end.

hibernates(P) ->
    case process_info(P, status) of
        {status, waiting} -> ok;
        _ -> timer:sleep(1), hibernates(P)
    end.
