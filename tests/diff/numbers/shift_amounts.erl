%% Shifts by amounts that are not known when the code is made: in bodies and in guards, of what fits
%% a word, just fits it and does not, by what is no amount of one.
-module(shift_amounts).
-export([main/0]).

main() ->
    Bits = [0, 1, 2, 3, 29, 30, 31, 32, 57, 58, 59, 60, 61, 62, 63, 64, 65, 127, 128, 1000],
    Amounts = Bits ++ [-N || N <- Bits],
    Edges = lists:usort([S * ((1 bsl N) + D) || N <- Bits, N < 130, D <- [-1, 0, 1], S <- [1, -1]]),
    io:format("~w numbers by ~w amounts~n", [length(Edges), length(Amounts)]),
    [io:format("~w: ~w ~w ~w~n", [N, hash(left, Edges, N), hash(right, Edges, N), hash(ones, Edges, N)])
     || N <- Amounts],
    [io:format("~w~n", [{A, B, left(A, B), right(A, B), ones(A, B), masks(A, B)}])
     || A <- [7, -7, 1 bsl 58, -(1 bsl 59)], B <- [0, 1, 59, 60, 63, 64, -1, -64]],
    [io:format("~w~n", [{A, B, catch_of(fun() -> left(A, B) end), catch_of(fun() -> right(A, B) end),
                         guarded(A, B)}])
     || {A, B} <- [{a, 1}, {1, a}, {1.0, 1}, {1, 1.0}, {[], []}, {1, 1 bsl 64}, {0, 1 bsl 64},
                   {-1, 1 bsl 64}, {1, -(1 bsl 64)}]],
    io:format("~w~n", [bytes(16#123456789ABCDEF, 0, [])]).

hash(F, Edges, N) ->
    erlang:phash2([{E, apply_of(F, E, N), guarded(E, N)} || E <- Edges]).

apply_of(left, A, B) -> left(A, B);
apply_of(right, A, B) -> right(A, B);
apply_of(ones, A, B) -> ones(A, B).

left(A, B) -> A bsl B.
right(A, B) -> A bsr B.
%% With a number of the code's own on the left.
ones(A, B) -> {1 bsl B, -1 bsl B, 1 bsr B, -1 bsr B, 16#7FFFFFFFFFFFFFF bsr B, A}.
%% What is shifted is used again, and the amount too.
masks(A, B) -> (A bsr B) band ((1 bsl (B band 63)) - 1) + A + B.

%% A guard that fails is no error. (What is too large for a guard fails there too.)
guarded(A, B) when A bsr B =:= 0 -> zero;
guarded(A, B) when A bsl B =:= A -> same;
guarded(A, B) when A bsr B < 0; A bsl B < 0 -> negative;
guarded(A, B) when A bsr B > 0 -> positive;
guarded(_, _) -> none.

catch_of(F) ->
    try F() catch C:R:Trace -> {M, Fun, Args, _} = hd(Trace), {C, R, M, Fun, Args} end.

bytes(_, 64, All) -> All;
bytes(N, At, All) -> bytes(N, At + 8, [(N bsr At) band 255 | All]).
