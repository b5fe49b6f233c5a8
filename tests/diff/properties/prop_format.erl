%% Random formats and terms through io_lib:format, print and write.
-module(prop_format).
-export([main/0]).
main() ->
    g:seed(16), g:digest(one, g:times(1500, fun(_) -> C = control(), T = g:term(2), {C, T, r(fun() -> lists:flatten(io_lib:format(C, [T])) end)} end)), g:digest(numbers, g:times(800, fun(_) -> C = lists:append(["~", g:one(["", "5", "-7", "12", "*"]), g:one(["", ".0", ".1", ".5", ".16", ".36", "..0", ".2.*"]), g:one(["b", "B", "x", "#", "+", "e", "f", "g", "w", "c", "i"])]), A = [g:one([g:integer(), g:float(), g:small()])], {C, A, [r(fun() -> lists:flatten(io_lib:format(C, X)) end) || X <- [A, [5 | A], [5, 3 | A]]]} end)), g:digest(print, g:times(500, fun(_) -> T = g:term(4), {T, lists:flatten(io_lib:print(T, 1 + g:int(9), 10 + g:int(70), g:one([-1, 3, 8])))} end)), g:digest(write, g:times(500, fun(_) -> T = g:term(3), {T, lists:flatten(io_lib:write(T, g:one([-1, 1, 2, 5, 9]))), [lists:flatten(io_lib:format(F, [T])) || F <- ["~w", "~tw", "~p", "~tp", "~0p"]]} end)).
r(F) -> try F() catch _:R -> R end.
control() ->
    lists:append(["~", g:one(["", "", "10", "-20", "40"]), g:one(["", "", ".3", ".12"]), g:one(["", "", ".x"]), g:one(["", "t", "l", "tl"]), g:one(["p", "w", "s", "P", "W", "a", "p", "w"])]).
