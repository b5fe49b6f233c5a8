%% Random messages into a mailbox, taken out in random selective ways.
-module(prop_receive).
-export([main/0]).
main() ->
    g:seed(21), t:p([turn(I) || I <- lists:seq(1, 60)]).
turn(_) -> S = self(), Ms = [{g:one([a, b, c]), g:int(5), I} || I <- lists:seq(1, g:int(40))], spawn(fun() -> [S ! M || M <- Ms], S ! full end),
    receive full -> ok end, Out = [take(g:int(9), g:int(5)) || _ <- lists:seq(1, 30)], {messages, Left} = process_info(self(), messages), {message_queue_len, N} = process_info(self(), message_queue_len), L = t:flush(), L = Left, N = length(L), erlang:phash2({Out, L}).
take(0, _) -> receive {a, _, _} = M -> M after 0 -> none end;
take(1, N) -> receive {_, N, _} = M -> M after 0 -> none end;
take(2, N) -> receive {b, X, _} = M when X > N -> M; {c, _, I} when I rem 2 =:= 0 -> I after 0 -> none end;
take(3, _) -> receive M -> M after 0 -> none end;
take(4, N) -> receive {a, _, _} = M -> receive {b, N, _} = M2 -> {M, M2} after 0 -> {M, none} end after 0 -> none end;
take(5, N) -> catch receive {_, N, I} = M when hd(I) -> M; {c, N, _} -> throw(out) after 0 -> none end;
take(6, _) -> R = make_ref(), self() ! {R, x}, receive {R, X} -> X end;
take(7, N) -> self() ! {c, N, again}, receive {c, N, I} -> I end;
take(8, N) -> F = fun F(0) -> []; F(K) -> receive {b, _, I} -> [I | F(K - 1)] after 0 -> [] end end, F(N).
