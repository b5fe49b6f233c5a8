%% Calls of functions that aren't there: an error handler of one's own, '$handle_undefined_function',
%% modules that are loaded on demand.
-module(code_error_handler).
-export([main/0, undefined_function/3, undefined_lambda/3, '$handle_undefined_function'/2]).
main() ->
    t:p(?MODULE:whatever(1, 2)), t:p(apply(?MODULE, other, [])),
    t:p(process_flag(error_handler, ?MODULE)), t:p((t:id(no_mod)):f(1, a)), t:p(apply(no_mod, g, [])), F = fun no_mod:h/2, t:p(F(x, y)), t:p(process_info(self(), error_handler)),
    t:p(?MODULE:not_here()), S = self(), spawn(fun() -> S ! t:c(fun() -> (t:id(no_mod)):f(1) end) end), t:p(receive M -> M end),
    t:p(process_flag(error_handler, no_handler)), t:pc(fun() -> process_flag(error_handler, t:id(1)) end),
    process_flag(error_handler, error_handler), t:pc(fun() -> (t:id(no_mod)):f(1) end),
    t:p(code:is_loaded(orddict) =:= false orelse loaded), t:p((t:id(orddict)):from_list([{b, 1}, {a, 2}])), t:p(element(1, code:is_loaded(orddict))).
undefined_function(M, F, As) -> {undefined, M, F, As}.
undefined_lambda(M, _, As) -> {lambda, M, As}.
'$handle_undefined_function'(F, As) -> {handled, F, As}.
