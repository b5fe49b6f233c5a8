%% Chains of float operations: errors in their middle, operands that are large integers, more floats
%% at once than a processor has registers for, and a collection between operations.
-module(float_registers).
-export([main/0]).

main() ->
    Vs = [0.0, -0.0, 1.0, -1.5, 1.0e308, -1.0e308, 5.0e-324, 3, -7, 1 bsl 70, 1 bsl 1100, 0, 2.5e100],
    print(chain, [result(fun() -> chain(A, B, C, D) end) || A <- Vs, B <- Vs, C <- Vs, D <- Vs]),
    print(guards, [result(fun() -> guards(A, B, C, D) end) || A <- Vs, B <- Vs, C <- Vs, D <- Vs]),
    print(mixed, [result(fun() -> mixed(A, B, C) end) || A <- Vs, B <- Vs, C <- Vs]),
    print(many, [result(fun() -> many(A, B, C) end) || A <- Vs, B <- Vs, C <- Vs]),
    io:format("~p~n", [steps(20000, 1.0, 0.5, [])]),
    io:format("~p~n", [many(1.5, -2, 3.25)]).

print(Name, Results) ->
    Kinds = lists:foldl(fun(R, M) -> maps:update_with(element(1, R), fun(N) -> N + 1 end, 1, M) end, #{}, Results),
    io:format("~p ~p ~s~n", [Name, lists:sort(maps:to_list(Kinds)),
                             binary:encode_hex(erlang:md5(term_to_binary(Results)))]).

result(F) ->
    try {value, F()} catch error:E -> {E, error} end.

chain(A, B, C, D) ->
    X = A * B + C,
    Y = X * D - A,
    Z = -Y / (B + 1.0),
    {X, Y, Z, X - Z * Y, -(X + 0.0), X - X, Y / Y}.

guards(A, B, C, D) when A * B + C > D - 1.0, A + 0.5 < B * B -> {yes, A / (D + 1.0e-5), float(A) * B - C * D};
guards(A, B, C, D) when A / B > C -> {quotient, A * D - B * C};
guards(A, B, C, D) -> L = [A, B | lists:seq(1, 3)], {no, A * B - C * D + length(L), L, A - B - C - D}.

%% Integers become floats between operations.
mixed(A, B, C) ->
    X = float(A) + 0.5,
    Y = X * float(B) - 0.25,
    Z = Y / (float(C) + X),
    {X * Y * Z, Z - Y - X, float(B) * X + float(C) * Y}.

many(A, B, C) ->
    A1 = A * 1.5, A2 = A * 2.5, A3 = A * 3.5, A4 = B * 4.5, A5 = B * 5.5, A6 = B * 6.5,
    A7 = C * 7.5, A8 = C * 8.5, A9 = C * 9.5, A10 = A1 - B * 0.5, A11 = A2 - C * 0.5, A12 = A3 - A * 0.5,
    B1 = A1 + A2 * A3 - A4, B2 = A5 - A6 + A7 * A8, B3 = A9 / (A1 + 1.5),
    B4 = A2 * A4 * A6 * A8, B5 = A1 - A2 - A3 - A4 - A5 - A6 - A7 - A8 - A9 - A10 - A11 - A12,
    {B1 + B2 * B3 - B4 + B5, B1 * B2 + B3 * B4 - B5 * A1 + A2,
     [A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12], B1, B2, B3, B4, B5}.

%% The heap is full now and then when a result is to be stored.
steps(0, A, B, Kept) -> {A, B, length(Kept), lists:sum(lists:sublist(Kept, 100))};
steps(N, A, B, Kept) ->
    X = A * 0.75 + B,
    Y = B * 0.5 - X * 0.125,
    steps(N - 1, X, Y, [X * Y + 1.0 | Kept]).
