%% Selective receive in a long mailbox, by reference, by value, with guards.
-module(recv_selective_big).
-export([main/0]).
main() ->
    S = self(), [S ! {n, I} || I <- lists:seq(1, 2000)], R = make_ref(), spawn(fun() -> S ! {R, done} end), t:p(receive {R, X} -> X end), t:p(receive {n, N} when N rem 777 =:= 0 -> N end), t:p(receive {n, N2} when N2 > 1990 -> N2 end), t:p(element(2, process_info(self(), message_queue_len))),
    t:p([receive {n, K} -> K end || K <- [2000, 1, 1000]]), t:p(length(t:flush())), [begin S ! {k, I, lists:duplicate(I, I)} end || I <- lists:seq(1, 50)], t:p(lists:sum([receive {k, I, L} -> length(L) end || I <- lists:seq(50, 1, -1)])).
