%% Random integer arithmetic: all operators on small and big operands.
-module(prop_arith).
-export([main/0]).
main() ->
    g:seed(1),
    g:digest("two operands", g:times(3000, fun(_) -> two(g:integer(), g:integer()) end)),
    g:digest("shifts", g:times(1500, fun(_) -> shifts(g:integer(), g:int(200) - 100) end)),
    g:digest("one operand", g:times(1500, fun(_) -> one(g:integer()) end)),
    g:digest("long sums", g:times(20, fun(_) -> lists:foldl(fun(X, A) -> A * 31 + X end, 0, g:list(fun g:integer/0, 100)) end)),
    laws(2000),
    t:p(done).

two(A, B) ->
    [A + B, A - B, A * B, t:c(fun() -> A div B end), t:c(fun() -> A rem B end), A band B, A bor B, A bxor B,
     A < B, A =< B, A == B, A =:= B, max(A, B), min(A, B), t:c(fun() -> A / B end)].

shifts(A, N) -> [A bsl N, A bsr N, A bsl abs(N), (A bsl abs(N)) bsr abs(N) =:= A, bnot A bsr 3].

one(A) -> [-A, bnot A, abs(A), integer_to_list(A), integer_to_binary(A, 36), list_to_integer(integer_to_list(A, 7), 7) =:= A,
           t:c(fun() -> float(A) end), A div 10, A rem 10, A band 255, A * A, A =:= A + 0, is_integer(A)].

laws(0) -> ok;
laws(N) ->
    A = g:integer(), B = g:integer(), C = g:integer(),
    true = (A + B) - B =:= A,
    true = A * (B + C) =:= A * B + A * C,
    true = B =:= 0 orelse (A div B) * B + A rem B =:= A,
    true = A bxor B =:= (A bor B) - (A band B),
    true = bnot A =:= -A - 1,
    true = binary_to_term(term_to_binary(A)) =:= A,
    true = binary_to_integer(integer_to_binary(A)) =:= A,
    laws(N - 1).
