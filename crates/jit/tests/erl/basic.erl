-module(basic).
-compile([export_all, nowarn_export_all]).

fib(N) when N < 2 -> N;
fib(N) -> fib(N-1) + fib(N-2).

rev(L) -> rev(L, []).
rev([H|T], Acc) -> rev(T, [H|Acc]);
rev([], Acc) -> Acc.

nrev([H|T]) -> app(nrev(T), [H]);
nrev([]) -> [].
app([H|T], L) -> [H|app(T, L)];
app([], L) -> L.

seq(N) -> seq(N, []).
seq(0, Acc) -> Acc;
seq(N, Acc) -> seq(N-1, [N|Acc]).

len(L) -> len(L, 0).
len([_|T], N) -> len(T, N+1);
len([], N) -> N.

classify(X) ->
    case X of
        0 -> zero;
        1 -> one;
        2 -> two;
        3 -> three;
        4 -> four;
        5 -> five;
        6 -> six;
        a -> atom_a;
        {pair, A, B} -> {B, A};
        {_, _} -> tuple2;
        [] -> nil;
        [_|_] -> list;
        _ when is_atom(X) -> atom;
        _ when is_function(X, 1) -> X(7);
        _ -> other
    end.

adder(N) -> fun(X) -> X + N end.
map(F, [H|T]) -> [F(H)|map(F, T)];
map(_, []) -> [].

catcher(F) ->
    try F() of
        V -> {ok, V}
    catch
        C:R:S -> {C, R, hd_mfa(S)}
    end.
hd_mfa([{M, F, A, _}|_]) -> {M, F, A};
hd_mfa(_) -> none.
old(F) -> catch F().

bin(N) -> <<N:16, "abc", N:8/little, (N*2):32/signed, 1.5:64/float>>.
unbin(<<A:16, S:3/binary, B:8, C:32/signed, F/float, R/binary>>) -> {A, S, B, C, F, R}.
bytes(<<B, R/binary>>, Acc) -> bytes(R, [B|Acc]);
bytes(<<>>, Acc) -> rev(Acc).
grow(0, B) -> B;
grow(N, B) -> grow(N-1, <<B/binary, N>>).

m(N) -> M = #{a => N, b => 2}, M#{a := N + 1, c => 3}.
getm(#{a := A, c := C}) -> {A, C};
getm(_) -> nope.
fl(A, B) -> (A + B) * A / B - 1.5.

main() ->
    832040 = fib(30),
    L = seq(30000),
    L = rev(rev(L)),
    30000 = len(L),
    S = seq(300), S2 = rev(S), S2 = nrev(S),
    [zero, one, six, atom_a, {y, x}, tuple2, nil, list, atom, 14, other] =
        map(fun classify/1, [0, 1, 6, a, {pair, x, y}, {p, q}, [], [1], foo, adder(7), 3.5]),
    [11, 12] = map(adder(10), [1, 2]),
    {error, {badmatch, 2}, _} = catcher(fun() -> 1 = two() end),
    {error, function_clause, {basic, rev, [foo, []]}} = catcher(fun() -> rev(foo) end),
    {error, undef, {nomod, nofun, [1]}} = catcher(fun() -> nomod:nofun(1) end),
    {error, {badfun, x}, _} = catcher(fun() -> X = id(x), X(1) end),
    {'EXIT', {{case_clause, 9}, [_|_]}} = old(fun() -> case id(9) of 1 -> ok end end),
    {ok, 5} = catcher(fun() -> id(5) end),
    B = bin(513),
    {513, <<"abc">>, 1, 1026, 1.5, <<>>} = unbin(B),
    [2, 1, 97, 98 | _] = bytes(B, []),
    G = grow(1000, <<>>),
    1000 = len(bytes(G, [])),
    {6, 3} = getm(m(5)),
    nope = getm(#{}),
    2.5 = fl(2.0, 2.0),
    ok.
two() -> 2.
id(X) -> X.
