%% Which additions and subtractions show a line of their own in a stack trace: those of a register and
%% a small integer do not, but for the subtraction of a negative one.
-module(arith_lines).
-export([main/0]).

main() ->
    [t:p({N, X, first(F, X)}) || {N, F} <- all(), X <- [a, [1], 1 bsl 70, 2.5]].

first(F, X) ->
    try F(t:id(X))
    catch error:Reason:Stack -> {Reason, shown(hd(Stack))}
    end.

shown({erlang, F, Args, _}) -> {erlang, F, Args};
shown({M, _, _, _}) -> M.

all() ->
    [{1, fun(A) -> A + 256 end}, {2, fun(A) -> A + -256 end}, {3, fun(A) -> 256 + A end},
     {4, fun(A) -> A - 256 end}, {5, fun(A) -> A - -256 end}, {6, fun(A) -> A - -1 end},
     {7, fun(A) -> A - 0 end}, {8, fun(A) -> 256 - A end}, {9, fun(A) -> A + 0 end},
     {10, fun(A) -> A - 576460752303423487 end}, {11, fun(A) -> A - -576460752303423488 end},
     {12, fun(A) -> A + -576460752303423488 end}, {13, fun(A) -> A - 576460752303423488 end},
     {14, fun(A) -> A - -576460752303423489 end}, {15, fun(A) -> -A end},
     {16, fun(A) -> element(1, {catch A - -65535}) * 2 end}].
