%% error, exit and throw; catch and try; values that go through.
-module(exc_classes).
-export([main/0]).
main() ->
    Fs = [fun() -> throw(t) end, fun() -> exit(e) end, fun() -> error(r) end, fun() -> error(r, [a, b]) end, fun() -> ok end,
          fun() -> 1 / t:id(0) end, fun() -> 1 div t:id(0) end, fun() -> t:id(a) + 1 end, fun() -> {a, _} = t:id({b, 1}) end, fun() -> case t:id(1) of 2 -> x end end,
          fun() -> if is_atom(hd([1])) -> x end end, fun() -> nomod:nofun() end, fun() -> hd(t:id([])) end, fun() -> f(t:id(9)) end, fun() -> try t:id(1) of 2 -> x catch _:_ -> y end end,
          fun() -> element(t:id(5), {a}) end, fun() -> list_to_atom(t:id([a])) end, fun() -> throw({a, [b]}) end, fun() -> exit(normal) end, fun() -> erlang:raise(throw, x, []) end,
          fun() -> binary_to_atom(t:id(<<255>>), utf8) end, fun() -> maps:get(a, #{}) end, fun() -> (t:id(1))#{a => 1} end, fun() -> t:id(1) bsl a end, fun() -> t:id(true) andalso t:id(1), 1 end,
          fun() -> t:id(x) andalso true end, fun() -> not t:id(x) end, fun() -> lists:sum([a]) end, fun() -> (t:id(fun(X) -> X end))(1, 2) end],
    [t:p(try_it(F)) || F <- Fs],
    [t:p(case catch F() of {'EXIT', {R, S}} when is_list(S) -> {'EXIT', R, stack}; R -> R end) || F <- Fs].
try_it(F) -> try F() of V -> {value, V} catch throw:V -> {throw, V}; exit:V -> {exit, V}; error:V -> {error, V} end.
f(1) -> one.
