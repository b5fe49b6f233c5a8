%% Stack traces: modules, functions, arities and lines, as raised by code and by BIFs.
-module(exc_stack).
-export([main/0]).
main() ->
    t:p(t:st(fun() -> a(1) end)),
    t:p(t:st(fun() -> b(x) end)),
    t:p(t:st(fun() -> [c(X) || X <- [1, 2, zero]] end)),
    t:p(t:st(fun() -> lists:map(fun(X) -> X + 1 end, [1, foo]) end)),
    t:p(t:st(fun() -> d(9, 8) end)),
    t:p(t:st(fun() -> nomod:f(1, 2) end)),
    t:p(t:st(fun() -> e([1]) end)),
    t:p(t:st(fun() -> error(mine, [arg1, arg2]) end)),
    t:p(t:st(fun() -> error(mine, none) end)),
    t:p(t:st(fun() -> tail(3) end)),
    t:p(t:st(fun() -> body(3) end)),
    t:p(t:st(fun() -> g(t:id(4)) end)),
    t:p(t:st(fun() -> h(t:id(5)) end)),
    t:p(t:st(fun() -> i(t:id(6)) end)),
    t:p(t:st(fun() -> (t:id(fun(1) -> 1 end))(2) end)),
    t:p(t:st(fun() -> (t:id(fun(_) -> 1 end))() end)),
    t:p(t:st(fun() -> exit(a) end)),
    t:p(t:st(fun() -> throw(a) end)).
a(X) ->
    Y = X + 1,
    {Y, b(Y)}.
b(X) ->
    Z =
        1 + c(X),
    Z.
c(X) ->
    1 / (X - 1).
d(A, B) when A < B ->
    ok.
e(L) ->
    [atom_to_list(X) || X <- L].
tail(0) -> error(bottom);
tail(N) -> tail(N - 1).
body(0) -> error(bottom);
body(N) -> [body(N - 1)].
g(X) -> case X of 1 -> a; 2 -> b end.
h(X) -> {ok, X1} = X, X1.
i(X) -> if X > 100 -> ok; X =:= 7 -> ok end.
