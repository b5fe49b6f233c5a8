%% The entry that erlang:nif_error/1,2 have in the stack trace is their own.
-module(exc_nif_error).
-export([main/0]).
main() ->
    [t:p(try F() catch C:R:St -> [{M, Fn, As, I} | _] = St, {C, R, {M, Fn, As, lists:keyfind(error_info, 1, I)}} end)
     || F <- [fun() -> erlang:nif_error(not_loaded) end,
              fun() -> erlang:nif_error(not_loaded, [a, b]) end,
              fun() -> erlang:nif_error(not_loaded, no_list) end,
              fun() -> x = erlang:nif_error({line, t:id(1)}) end,
              fun() -> apply(erlang, t:id(nif_error), [applied]) end,
              fun() -> apply(erlang, t:id(nif_error), [applied, [1]]) end]],
    {'EXIT', {x, Trace}} = (catch lists:map(fun(X) -> erlang:nif_error(X) end, [x])),
    t:p([{M, F, A} || {M, F, A, _} <- lists:sublist(Trace, 3)]).
