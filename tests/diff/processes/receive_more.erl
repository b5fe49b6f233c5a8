%% Receive: time-outs with late and early messages, guards that look at the process,
%% nested receives, order kept by selective ones, big messages.
-module(receive_more).
-export([main/0]).
main() ->
    [self() ! M || M <- [a, {b, 1}, c, {b, 2}, 3, {b, 3}, "s"]],
    t:p([receive {b, N} -> N end, receive X when is_atom(X) -> X end, receive X1 when is_list(X1) -> X1 end, receive {b, N1} when N1 > 2 -> N1 end]), t:p(t:flush()),
    t:p(receive x -> x after 0 -> none end), t:p(receive x -> x after 10 -> none end), self() ! y, t:p(receive x -> x after 10 -> none end), t:p(receive y -> y after 10 -> none end),
    S = self(), spawn(fun() -> timer:sleep(20), S ! late end), t:p(receive late -> got after 1000 -> none end), spawn(fun() -> timer:sleep(60), S ! later end), t:p(receive later -> got after 5 -> none end), t:p(receive later -> got after 2000 -> none end),
    spawn(fun() -> [begin timer:sleep(2), S ! {tick, N} end || N <- lists:seq(1, 20)] end), t:p(receive never -> x after 15 -> timed_out end), t:p(length([receive {tick, N2} -> N2 end || N2 <- lists:seq(1, 20)])),
    t:p(outer(S)), [t:pc(fun() -> receive after t:id(T) -> done end end) || T <- [0, 1, -1, a, 1.5, 1 bsl 32, <<>>]], t:p(receive M0 -> M0 after t:id(0) -> empty end),
    self() ! {big, lists:seq(1, 100000), binary:copy(<<"x">>, 100000)}, t:p(receive {big, L, B} -> {length(L), byte_size(B), erlang:phash2({L, B})} end), self() ! #{k => [1, {2, <<3>>}]}, t:p(receive #{k := [_, {Y, Z}]} -> {Y, Z} end),
    self() ! <<1, 2, 3>>, t:p(receive <<H, R/binary>> -> {H, R} end), self() ! fun() -> hi end, t:p((receive F when is_function(F) -> F end)()), self() ! 1.5, self() ! 2, t:p(receive I when is_integer(I) -> I end), t:p(receive Fl when Fl > 1 -> Fl end),
    t:p(priority([{low, 1}, {high, 2}, {low, 3}, {high, 4}])), t:p(loop(1000, 0)), put(wanted, w2), self() ! w1, self() ! w2, t:p(wanted()), t:p(t:flush()), t:p(server()).
outer(S) -> S ! in1, S ! out1, S ! in2, receive out1 -> A = receive in2 -> receive in1 -> nested after 0 -> lost end end, {out, A} end.
priority(Ms) -> [self() ! M || M <- Ms], prio().
prio() -> receive {high, N} -> [N | prio()] after 0 -> receive {low, N} -> [N | prio()] after 0 -> [] end end.
loop(0, A) -> A;
loop(N, A) -> self() ! N, receive N -> loop(N - 1, A + N) end.
wanted() -> W = get(wanted), receive W -> {found, W} end.
server() -> P = spawn(fun() -> srv(#{}) end), [P ! {put, K, V} || {K, V} <- [{a, 1}, {b, 2}, {a, 3}]], P ! {self(), get}, receive {P, M} -> M end.
srv(M) -> receive {put, K, V} -> srv(M#{K => V}); {From, get} -> From ! {self(), M} after 5000 -> exit(idle) end.
