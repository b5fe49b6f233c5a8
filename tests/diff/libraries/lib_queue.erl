%% Queues of both interfaces: every operation on empty, short and long ones, and on what is none.
-module(lib_queue).
-export([main/0]).
main() ->
    Qs = [queue:new(), queue:from_list([a]), queue:in(b, queue:from_list([a])), queue:from_list(lists:seq(1, 9)), queue:in_r(z, queue:in(y, queue:new())), {[], []}, {[1], []}, a, [], {a, b}],
    m:fs(queue, [is_queue, is_empty, len, to_list, out, out_r, get, get_r, peek, peek_r, drop, drop_r, reverse, head, daeh, tail, liat, lait, init, last], [Qs]),
    m:fs(queue, [in, in_r, member, cons, snoc, delete, delete_r], [[a, 3], Qs]),
    m:f(queue, join, [Qs, Qs]),
    m:f(queue, split, [[-1, 0, 1, 2, 5, 9, 10, a], Qs]),
    m:f(queue, from_list, [[[], [a], [a | b], x]]),
    m:fs(queue, [filter, filtermap, any, all, delete_with, delete_with_r], [[fun is_atom/1, fun(X) -> X end, a], Qs]),
    m:f(queue, fold, [[fun(X, A) -> [X | A] end], [[]], Qs]),
    g:seed(1),
    t:p(lists:foldl(fun(I, Q) -> case g:int(4) of 0 -> queue:in(I, Q); 1 -> queue:in_r(I, Q); 2 -> element(2, queue:out(Q)); 3 -> case queue:is_empty(Q) of true -> Q; false -> queue:drop_r(queue:in({I}, Q)) end end end, queue:new(), lists:seq(1, 400))).
