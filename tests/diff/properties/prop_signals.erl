%% Random families of processes with links and monitors, some trapping exits; some
%% are ended by a seeded choice: who survives and who heard what, as a digest.
-module(prop_signals).
-export([main/0]).
main() ->
    process_flag(trap_exit, true),
    g:seed(41),
    Rs = [family(I) || I <- lists:seq(1, 60)],
    t:p(g:digest(Rs)), t:p(hd(Rs)), t:p(lists:sum([Alive || {Alive, _, _} <- Rs])).

%% N processes, random links and monitors among them, then some of them end.
family(_) ->
    N = 3 + g:int(12), S = self(),
    Ps = list_to_tuple([spawn(fun() -> process_flag(trap_exit, Trap), member(S, []) end) || _ <- lists:seq(1, N), Trap <- [g:int(3) =:= 0]]),
    Links = [{A, B} || _ <- lists:seq(1, N), A <- [1 + g:int(N)], B <- [1 + g:int(N)], A =/= B],
    Mons = [{A, B} || _ <- lists:seq(1, N), A <- [1 + g:int(N)], B <- [1 + g:int(N)], A =/= B],
    [tell(element(A, Ps), {link, element(B, Ps)}) || {A, B} <- Links], [tell(element(A, Ps), {monitor, element(B, Ps)}) || {A, B} <- Mons],
    %% A kill that travels and another meet in an order nobody knows: one end at a time.
    [begin exit(element(V, Ps), g:one([kill, boom, normal, shutdown])), settle() end || _ <- lists:seq(1, 2), V <- [1 + g:int(N)]],
    Index = fun(P) -> length(lists:takewhile(fun(Q) -> Q =/= P end, tuple_to_list(Ps))) + 1 end,
    Heard = [case is_process_alive(P) of true -> P ! {report, S}, receive {heard, P, L} -> [{K, Index(Q), W} || {K, Q, W} <- L] end; false -> dead end || P <- tuple_to_list(Ps)],
    [exit(P, kill) || P <- tuple_to_list(Ps)],
    {length([x || X <- Heard, X =/= dead]), [case X of dead -> dead; _ -> lists:sort(X) end || X <- Heard], length(t:flush())}.

settle() -> timer:sleep(5), [erlang:yield() || _ <- lists:seq(1, 30)].
tell(P, M) -> R = make_ref(), P ! {self(), R, M}, receive {R, ok} -> ok after 1000 -> exit(lost) end.
member(S, Heard) ->
    receive
        {P, R, {link, Q}} -> link(Q), P ! {R, ok}, member(S, Heard);
        {P, R, {monitor, Q}} -> monitor(process, Q), P ! {R, ok}, member(S, Heard);
        {'EXIT', P, W} -> member(S, [{exit, P, W} | Heard]);
        {'DOWN', _, process, P, W} -> member(S, [{down, P, W} | Heard]);
        {report, To} -> To ! {heard, self(), Heard}, member(S, Heard)
    end.
