%% Random floats: arithmetic, rounding, text and back.
-module(prop_floats).
-export([main/0]).
main() ->
    g:seed(8),
    g:digest("arith", g:times(3000, fun(_) -> arith(g:number(), g:number()) end)),
    g:digest("rounding", g:times(1500, fun(_) -> rounding(g:float()) end)),
    g:digest("text", g:times(1500, fun(_) -> text(g:float()) end)),
    g:digest("ties", g:times(1500, fun(N) -> [float_to_list((2 * N + 1) * math:pow(2, E), [short]) || E <- [-60, -24, -2, 1, 33, 40, 47]] ++ [float_to_list((int_(N) * 4 + 1) / 4, [short]), float_to_list(math:pow(2, N - 750), [short])] end)),
    g:digest("fixed ties", g:times(500, fun(N) -> F = (2 * N + 1) / 16, [float_to_list(F, [{decimals, D}]) || D <- [0, 1, 2, 3]] ++ [float_to_list(F, [{scientific, D}]) || D <- [0, 1, 2, 3]] ++ [io_lib:format("~.1f ~.2e ~.3g", [F, F, F])] end)),
    g:digest("loops", g:times(300, fun(_) -> loop(g:float(), g:small(), 30) end)),
    g:digest("math", g:times(1000, fun(_) -> math_ops(g:small() / 100) end)).

arith(A, B) -> [t:c(fun() -> A + B end), t:c(fun() -> A - B end), t:c(fun() -> A * B end), t:c(fun() -> A / B end), A < B, A == B, A =:= B, A >= B,
                t:c(fun() -> (A + 1.5) * B - A / 3 end), max(A, B), t:c(fun() -> -A + float(B) end)].

rounding(F) -> [round(F), trunc(F), floor(F), ceil(F), abs(F), -F, F == trunc(F)].

text(F) ->
    L = float_to_list(F), S = float_to_list(F, [short]),
    true = list_to_float(L) == F orelse abs(F) < 1.0e-300, true = list_to_float(S) =:= F,
    [L, S, float_to_binary(F, [{scientific, 5}]), t:c(fun() -> float_to_list(F, [{decimals, 6}, compact]) end), t:c(fun() -> float_to_binary(F, [{decimals, 3}]) end),
     io_lib:format("~p ~w ~e ~g", [F, F, F, F]), t:c(fun() -> lists:flatten(io_lib:format("~.3f", [F])) end), <<F/float>>, term_to_binary(F)].

int_(N) -> 1000000000000000 div (N + 1) + N.

loop(F, _, 0) -> F;
loop(F, N, I) ->
    case F * 1.01 + N / 3 - F / 7 of
        G when G > 1.0e200; G < -1.0e200 -> {big, G};
        G -> loop(G, N + I, I - 1)
    end.

%% Functions whose last bit no library disagrees about.
math_ops(X) -> [math:sqrt(abs(X)), math:floor(X), math:ceil(X), math:fmod(X, 3.0), t:c(fun() -> math:sqrt(X) end), t:c(fun() -> math:log(-abs(X)) end)].
