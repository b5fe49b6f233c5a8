%% A server's code is exchanged while it runs: old and new code, code_change, purge.
-module(code_hot_upgrade).
-export([main/0]).
main() ->
    D = t:tmp("hot"), file:set_cwd(D), V = fun(N) -> Src = io_lib:format("-module(hot).\n-export([start/0, loop/1, v/0]).\nv() -> ~b.\nstart() -> spawn(fun() -> loop(~b) end).\nloop(S) -> receive {F, get} -> F ! {S, ~b}, loop(S); {F, up} -> F ! up, ?MODULE:loop(S + 1); {F, f} -> F ! fun() -> {S, ~b} end, loop(S) end.\n", [N, N * 100, N, N]), ok = file:write_file("hot.erl", Src), {ok, hot, B} = compile:file("hot.erl", [binary]), B end,
    B1 = V(1), B2 = V(2), B3 = V(3), {module, hot} = code:load_binary(hot, "hot", B1), P = hot:start(),
    t:p(ask(P, get)), F1 = ask(P, f), {module, hot} = code:load_binary(hot, "hot", B2),
    t:p({hot:v(), ask(P, get), F1(), erlang:check_old_code(hot), erlang:check_process_code(P, hot), erlang:check_process_code(self(), hot)}),
    t:p(ask(P, up)),
    t:p({ask(P, get), erlang:check_process_code(P, hot)}),
    t:p(t:c(fun() -> erlang:delete_module(hot) end)),
    t:p(code:load_binary(hot, "hot", B3)),
    t:pc(fun() -> F1() end),
    t:p({hot:v(), ask(P, get)}),
    t:p(code:soft_purge(hot)), M = monitor(process, P),
    t:p(code:purge(hot)), receive {'DOWN', M, _, _, R} -> t:p(R) after 500 -> t:p(alive) end,
    t:p(code:soft_purge(hot)),
    t:p(code:delete(hot)),
    t:p(t:c(fun() -> hot:v() end)),
    t:p(code:is_loaded(hot)),
    t:p(code:purge(hot)).
ask(P, X) -> P ! {self(), X}, receive Y -> Y after 500 -> timeout end.
