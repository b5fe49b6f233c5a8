%% Several exceptions after each other: each keeps its own stack trace.
-module(exc_after_stack).
-export([main/0]).
main() ->
    t:p([st(I) || I <- lists:seq(1, 5)]),
    try error(outer) catch error:outer:S1 -> try error(inner) catch error:inner:S2 -> t:p({top(S1), top(S2), S1 =/= S2}) end, t:p(top(S1)) end,
    t:p(catch_all(fun() -> throw({some, "term"}) end)), t:p(catch_all(fun() -> error({some, "term"}) end)).
st(I) -> try fail(I) catch error:{f, I}:S -> {I, top(S)} end.
fail(I) -> error({f, I}).
top([{M, F, A, L} | _]) -> {M, F, A, proplists:get_value(line, L)}.
catch_all(F) -> case catch F() of {'EXIT', {R, [H | _]}} -> {exit, R, top([H])}; X -> X end.
