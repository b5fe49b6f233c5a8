%% erlang:raise, and exceptions passed on from a handler with their stack.
-module(exc_raise).
-export([main/0]).
main() ->
    t:p(t:st(fun() -> again() end)), t:p(t:st(fun() -> other() end)), t:p(t:st(fun() -> change() end)),
    t:p(t:st(fun() -> erlang:raise(error, r, [{m, f, 1, [{line, 3}]}, {m, g, [a], []}]) end)),
    t:p(t:c(fun() -> erlang:raise(t:id(bad), r, []) end)), t:p(t:c(fun() -> erlang:raise(error, r, t:id(x)) end)), t:p(t:c(fun() -> erlang:raise(t:id(throw), r, t:id([{m, f, 1}])) end)),
    t:p(t:st(fun() -> erlang:raise(exit, r, [{m, f, 1}, {m2, f2, []}]) end)),
    t:p(t:st(fun() -> try inner() after t:id(1) end end)).
again() -> try inner() catch C:R:S -> erlang:raise(C, R, S) end.
other() -> try inner() catch error:R:S -> erlang:raise(throw, {new, R}, S) end.
change() -> try inner() catch error:_ -> error(different) end.
inner() -> t:id(error(deep)), ok.
