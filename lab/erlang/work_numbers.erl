%% Calls and arithmetic.
-module(work_numbers).
-export([programs/0]).

programs() ->
    [{fib, fun() -> fib(26) end, 121393},
     {tak, fun() -> tak(18, 12, 6) end, 7},
     {ack, fun() -> ack(2, 400) end, 803},
     {factorial, fun() -> factorial(2000) rem 2003 end, 1001},
     {floats, fun() -> round(floats(40000, 0.0)) end, 900002502}].

fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).

tak(X, Y, Z) when Y < X ->
    tak(tak(X - 1, Y, Z), tak(Y - 1, Z, X), tak(Z - 1, X, Y));
tak(_, _, Z) -> Z.

ack(0, N) -> N + 1;
ack(M, 0) -> ack(M - 1, 1);
ack(M, N) -> ack(M - 1, ack(M, N - 1)).

factorial(0) -> 1;
factorial(N) -> N * factorial(N - 1).

floats(0, Sum) -> Sum;
floats(N, Sum) ->
    X = N * 1.5,
    floats(N - 1, Sum + X * X / (X + 0.5) - 0.25 * X).
