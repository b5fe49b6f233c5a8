%% gen_server: every return value of every callback, good and bad.
-module(gs_replies).
-export([main/0]).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, handle_continue/2, terminate/2, code_change/3]).
main() ->
    process_flag(trap_exit, true), [t:p(I, t:c(fun() -> case gen_server:start_link(?MODULE, I, []) of {ok, P} -> gen_server:stop(P), stopped; O -> O end end)) || I <- [{ok, s}, {ok, s, hibernate}, {ok, s, {continue, c}}, ignore, {stop, why}, bad, {error, x}, {ok, s, -1}]], timer:sleep(10), t:p([X || X <- fl()]),
    [begin {ok, P} = gen_server:start_link(?MODULE, {ok, s}, []), A = t:c(fun() -> gen_server:call(P, R, 500) end), exit(P, kill), t:p(R, cut(A)) end || R <- [{reply, a, s}, {reply, a, s, hibernate}, {reply, a, s, 1}, {reply, a, s, {continue, c}}, {noreply, s}, {stop, w, s}, {stop, w, a, s}, {stop, normal, a, s}, bad, {reply, a}, exit, error, throw] -- [{noreply, s}]], timer:sleep(10), t:p([cut(X) || X <- fl()]).
fl() -> [case M of {'EXIT', _, R} -> cut(R); X -> X end || M <- t:flush()].
cut({R, St}) when is_list(St) -> {cut(R), st}; cut({A, B}) -> {cut(A), cut(B)}; cut({exit, A, B}) -> {exit, cut(A), cut(B)}; cut(P) when is_pid(P) -> pid; cut(X) -> X.
init(R) -> R. handle_call(exit, _, _) -> exit(out); handle_call(error, _, _) -> error(oops); handle_call(throw, _, _) -> throw({reply, thrown, s}); handle_call(R, _, _) -> R. handle_cast(R, _) -> R. handle_info(_, S) -> {noreply, S}. handle_continue(c, S) -> {noreply, S}. terminate(_, _) -> ok. code_change(_, S, _) -> {ok, S}.
