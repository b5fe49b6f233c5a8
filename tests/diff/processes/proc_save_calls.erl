%% process_flag(save_calls, N): the last N calls of functions through exports, and sends, receives
%% and timeouts, the oldest first.
-module(proc_save_calls).
-export([main/0, g/0, h/1, dyn/1]).

main() ->
    t:p(process_info(self(), last_calls)),
    t:p(process_flag(save_calls, 10)),
    ?MODULE:g(),
    own(),
    t:p(process_flag(save_calls, 3)),
    [?MODULE:h(N) || N <- [1, 2, 3, 4]],
    own(),
    t:p(process_flag(save_calls, 20)),
    F = t:id(fun lists:reverse/1),
    F([a]),
    M = t:id(?MODULE),
    M:dyn(1),
    apply(M, t:id(dyn), [2]),
    lists:map(fun(X) -> X end, [1, 2]),
    all(),
    sensitive(),
    t:p(process_flag(save_calls, 0)),
    t:p(process_info(self(), last_calls)),
    [t:pc(fun() -> process_flag(save_calls, N) end) || N <- [-1, 10001, a, 1.0]],
    others().

own() ->
    {last_calls, L} = process_info(self(), last_calls),
    t:p([C || C <- L, not is_tuple(C) orelse element(1, C) =:= ?MODULE]).
all() ->
    {last_calls, L} = process_info(self(), last_calls),
    t:p([C || C <- L, is_tuple(C) andalso lists:member(element(1, C), [?MODULE, lists])]).

g() ->
    w(0),
    self() ! m,
    ?MODULE:h(1),
    w(0),
    w(1),
    apply(?MODULE, h, [2]).
w(T) -> receive X -> X after T -> none end.
h(X) -> X.
dyn(X) -> X.

sensitive() ->
    process_flag(save_calls, 10),
    process_flag(sensitive, true),
    ?MODULE:h(1),
    self() ! x,
    w(0),
    w(0),
    own(),
    process_flag(sensitive, false).

others() ->
    S = self(),
    P = spawn(fun Loop() -> receive go -> ?MODULE:h(5), S ! went, Loop() end end),
    t:p(erlang:process_flag(P, save_calls, 5)),
    P ! go,
    receive went -> ok end,
    t:p(process_info(P, last_calls)),
    t:p(erlang:process_flag(P, save_calls, 0)),
    t:p(process_info(P, last_calls)),
    exit(P, kill),
    [t:pc(fun() -> erlang:process_flag(P, K, V) end) || {K, V} <- [{save_calls, x}, {trap_exit, true}]],
    t:pc(fun() -> erlang:process_flag(not_a_pid, save_calls, 1) end),
    t:pc(fun() -> erlang:process_flag(self(), save_calls, -1) end).
