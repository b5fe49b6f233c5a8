%% Exceptions, receive, funs, floats, processes.
-module(cs_flow).
-export([tries/1, catches/1, after_/2, nest/2, again/1, recv/1, recv2/2, selective/1, none/0, call/2,
         funs/2, env/4, fold/3, app/3, app2/1, flo/2, flo2/1, horner/2, loop/2, mutual/2, dict/1,
         send/2, trace/1, errors/2, clause/1, matches/1, ping/1, compose/2, rec/1, lc/1, mean/1]).

tries(X) ->
    try hd(X) of
        1 -> one;
        Y when is_atom(Y) -> {atom, Y}
    catch
        error:badarg -> badarg;
        throw:T -> {thrown, T};
        C:R:S -> {C, R, length(S)}
    end.

catches(X) ->
    A = (catch X + 1),
    B = (catch element(A, {a, b, c})),
    C = (catch throw({A, B})),
    {A, B, C, catch exit(C)}.

after_(X, Y) ->
    try X ! Y, put(k, Y), X / Y of
        F when F > 1.0 -> F;
        _ -> small
    catch error:_ -> err
    after put(k, erase(k))
    end.

nest(X, Y) ->
    try
        try hd(X) + tl(Y)
        catch throw:_ -> inner
        after get(z)
        end
    of R -> {ok, R}
    catch
        error:badarith -> try hd(Y) catch _:_ -> catch error(Y) end;
        error:E:St -> {E, St =/= []}
    end.

again(X) ->
    try tries2(X)
    catch C:R:S when R =/= none -> (catch erlang:raise(C, {again, R}, S))
    end.
tries2(X) when X > 3 -> throw(X);
tries2(X) -> exit(X).

recv(T) ->
    receive
        {a, X} -> {got, X};
        b -> b;
        [H | _] when H > 1 -> H
    after T -> timeout
    end.

recv2(Ref, N) when N > 0 ->
    receive
        {Ref, M} -> [M | recv2(Ref, N - 1)];
        stop -> []
    after 0 -> recv2(Ref, N - 1)
    end;
recv2(_, _) -> receive X -> [X] after 1 -> [] end.

selective(X) ->
    R = make_ref(),
    self() ! {R, X},
    receive {R, Y} -> Y after 5 -> none end.

none() -> receive after 1 -> ok end.

call(F, X) when is_function(F, 1) -> [F(X), F(F(X))];
call(F, X) -> (catch F(X, X)).

funs(A, B) ->
    F = fun (X) -> {X, A, B} end,
    G = fun G(0) -> []; G(N) -> [F(N) | G(N - 1)] end,
    {G(3), F, (fun erlang:length/1)([A]), (fun rec/1)(B)}.

env(A, B, C, D) ->
    F = fun (X, Y) -> fun (Z) -> [X, Y, Z, A, B, C, D] end end,
    (F(1, 2))({A, D}).

fold(F, A, [H | T]) -> fold(F, F(H, A), T);
fold(_, A, []) -> A.

app(M, F, A) -> {apply(M, F, A), M:F(hd(A))}.
app2(F) -> [apply(F, [1]), F(2)].

flo(A, B) when is_float(A), is_float(B) -> (A + B) * (A - B) / (A * B + 1.0) - A;
flo(A, B) -> (catch A * 1.5 + B / 3 - float(A)).

flo2(X) -> try Y = X * 2.0, Z = Y * Y - 1.0e10, {-Z, Z / Y, trunc(Z) rem 7} catch _:E -> E end.

horner(Cs, X) -> horner(Cs, X, 0.0).
horner([C | Cs], X, A) when is_float(X), is_float(A) -> horner(Cs, X, A * X + C);
horner(_, _, A) -> A.

loop(0, A) -> A;
loop(N, A) -> loop(N - 1, [N | A]).

mutual(0, X) -> X;
mutual(N, X) -> Y = mutual2(N - 1, {X}), [Y].
mutual2(0, X) -> X;
mutual2(N, X) -> mutual(N - 1, [X]).

dict(X) -> put(x, X), A = get(x), B = put(x, [A]), {A, B, erase(x), get(x)}.

send(P, M) -> P ! M, P ! {M, self()}, erlang:send(P, [M]).

trace(X) ->
    try clause(X) catch error:_:S -> {element(1, hd(S)), length(S)} end.

errors(badmatch, X) -> {ok, Y} = X, Y;
errors(case_, X) -> case X of a -> b end;
errors(if_, X) -> if X =:= 1 -> ok end;
errors(fun_, X) -> X();
errors(try_, X) -> try X of a -> b after ok end;
errors(badarity, X) -> (fun (A) -> A end)(X, X);
errors(error, X) -> error(X, [X]);
errors(undef, X) -> nowhere:f(X);
errors(map, X) -> X#{a := 1};
errors(exit, X) -> exit(X).

clause({a, X}) -> X;
clause([X]) -> clause(X).

matches(X) ->
    {A, [B | C]} = X,
    <<D, _/binary>> = B,
    #{k := E} = C,
    {A, D, E}.

ping(N) ->
    Me = self(),
    P = spawn(fun () -> receive {Me, K} -> Me ! {self(), K + 1} after 20 -> ok end end),
    P ! {Me, N},
    receive {P, M} -> M after 20 -> none end.

compose(F, G) -> fun (X) -> F(G(X)) end.

rec([A | B]) -> [rec(A) | rec(B)];
rec({A, B}) -> {rec(B), rec(A)};
rec(X) -> X.

lc(L) -> [{A, B} || {A, B} <- L, is_integer(A), A rem 2 =:= 0, B =/= []].

mean(L) -> mean(L, 0.0, 0).
mean([H | T], S, N) when is_number(H) -> mean(T, S + H, N + 1);
mean(_, _, 0) -> 0.0;
mean(_, S, N) -> S / N.
