%% Explanations that erl_error and the shell derive from error_info.
-module(exc_format).
-export([main/0]).
main() ->
    Fs = [fun() -> element(t:id(3), {a}) end, fun() -> atom_to_list(t:id(1)) end, fun() -> list_to_integer(t:id("x")) end, fun() -> ets:lookup(t:id(no_table), a) end, fun() -> lists:keyfind(a, t:id(0), []) end,
          fun() -> maps:get(a, t:id(1)) end, fun() -> binary:part(t:id(<<1>>), 2, 3) end, fun() -> register(t:id(undefined), foo) end, fun() -> t:id(1) + t:id(a) end, fun() -> error({my, reason}) end, fun() -> exit(bye) end, fun() -> throw(x) end,
          fun() -> process_flag(t:id(bad), true) end, fun() -> f(t:id(9)) end, fun() -> case t:id(1) of 2 -> a end end, fun() -> {a} = t:id({b}) end, fun() -> spawn(t:id(1), f, []) end, fun() -> persistent_term:get(t:id(nokey)) end, fun() -> io:format(t:id("~p"), []) end,
          fun() -> unicode:characters_to_binary(t:id([a])) end, fun() -> re:run(t:id("a"), t:id("(")) end, fun() -> lists:seq(t:id(5), 1) end, fun() -> maps:from_list(t:id(a)) end],
    [show(F) || F <- Fs].
show(F) ->
    try F() catch C:R:S ->
        Mine = [case X of {exc_format, N, A, _} -> {exc_format, N, A, []}; _ -> X end || X = {M, _, _, _} <- [hd(S)], M =/= init],
        io:format("~ts~n", [erl_error:format_exception(C, R, [without_lines(X) || X <- Mine])])
    end.
without_lines({M, F, A, I}) -> {M, F, A, [X || X = {K, _} <- I, K =:= error_info]}.
f(1) -> one.
