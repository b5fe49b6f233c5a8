%% length/1 of long lists ends turns in its middle: in a body, in a guard, applied, with registers that
%% stay live, of improper lists; collections and other processes come in between.
-module(length_in_turns).
-export([main/0, short/1, between/6]).

main() ->
    N = 1_000_000,
    L = lists:seq(1, N),
    Bad = improper(N, tail),
    t:p(length(L)),
    t:p(length(t:id(L)) + length(tl(t:id(L)))),
    t:p({short(L), short([1, 2]), short([]), short(Bad), short(a)}),
    t:p(between(1, [2], L, {3}, <<"four">>, 5.0)),
    t:p(apply(t:id(erlang), t:id(length), [L])),
    t:p(lists:map(fun erlang:length/1, [L, [], [a]])),
    t:p(cut(fun() -> length(Bad) end)),
    t:p(cut(fun() -> apply(t:id(erlang), t:id(length), [Bad]) end)),
    t:p(cut(fun() -> length(t:id([a | b])) end)),
    t:p(cut(fun() -> length(t:id(a)) end)),
    t:p(cut(fun() -> between(1, [2], Bad, {3}, <<"four">>, 5.0) end)),
    literal(),
    reductions(L),
    others_run(L),
    collected(),
    killed(L).

improper(0, T) -> T;
improper(N, T) -> improper(N - 1, [N | T]).

short(L) when length(L) < 3 -> short;
short(L) when length(L) =:= 1_000_000, hd(L) =:= 1 -> {long, hd(L)};
short(_) -> none.

between(A, B, L, C, D, E) ->
    X = {A, B},
    N = length(L),
    {X, N, B, C, D, E, hd(L)}.

%% What is raised and where, with the argument's beginning alone.
cut(F) ->
    try F() of
        X -> X
    catch
        C:R:Stack -> [{M, Name, Args, Info} | _] = Stack,
                      {C, R, M, Name, heads(Args), lists:keymember(error_info, 1, Info)}
    end.
heads(Args) when is_list(Args) -> [head(A) || A <- Args];
heads(Arity) -> Arity.
head([H | _]) -> [H];
head(X) -> X.

literal() -> t:p(length("a literal list")).

%% A reduction for sixteen cells.
reductions(L) ->
    self() ! a,
    {reductions, Before} = process_info(self(), reductions),
    N = length(L),
    {reductions, After} = process_info(self(), reductions),
    t:p({N, (After - Before) div 1000}).

%% How many turns of another process come in between, on one scheduler.
others_run(L) ->
    Me = self(),
    Opts = [{scheduler, 1}, {min_heap_size, 100_000}],
    Count = spawn_opt(fun() -> count(0) end, [{scheduler, 1}]),
    spawn_opt(fun() ->
        Mine = lists:append(L, []),
        erlang:yield(),
        Count ! {begins, self()},
        receive begun -> ok end,
        erlang:yield(),
        N = length(Mine),
        Count ! {ends, Me},
        N
    end, Opts),
    receive {turns, T} -> t:p({turns, T div 8}) end.
count(N) ->
    receive
        {begins, From} -> From ! begun, erlang:yield(), count(0);
        {ends, To} -> To ! {turns, N}
    after 0 -> erlang:yield(), count(N + 1)
    end.

%% A list that only length/1 still holds is collected between two turns.
collected() ->
    P = spawn(fun() -> receive {from, Me} -> Me ! {self(), length(lists:seq(1, 3_000_000))} end end),
    P ! {from, self()},
    [erlang:garbage_collect(P) || _ <- lists:seq(1, 20)],
    receive {P, N} -> t:p(N) end.

killed(L) ->
    {P, M} = spawn_monitor(fun() -> again(L, 0) end),
    receive after 20 -> ok end,
    t:p(process_info(P, current_function)),
    exit(P, kill),
    receive {'DOWN', M, _, _, R} -> t:p(R) end.
again(L, N) -> again(L, max(N, length(L))).
