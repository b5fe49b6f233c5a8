%% Serials of sequential tracing where processes start others: each spawn counts as a request and an answer.
-module(seq_spawn_serials).
-export([main/0, child/1, give/1]).

main() ->
    [{module, M} = code:ensure_loaded(M) || M <- [seq_trace, lists]],
    Ways = [{spawn, fun(A) -> spawn(?MODULE, child, A) end},
            {spawn_link, fun(A) -> spawn_link(?MODULE, child, A) end},
            {spawn_monitor, fun(A) -> element(1, spawn_monitor(?MODULE, child, A)) end},
            {options, fun(A) -> spawn_opt(?MODULE, child, A, [{priority, high}]) end},
            {fun_, fun(A) -> spawn(fun() -> apply(?MODULE, child, A) end) end},
            {request, fun(A) -> R = spawn_request(?MODULE, child, A), receive {spawn_reply, R, ok, P} -> P end end}],
    [t:p({Name, serials(fun() -> spawns(Way, 2) end)}) || {Name, Way} <- Ways],
    t:p({often, serials(fun() -> spawns(element(2, hd(Ways)), 20) end)}),
    t:p({set, serials(fun() -> seq_trace:set_token(serial, {5, 9}), spawns(element(2, hd(Ways)), 2) end)}),
    t:p({below_zero, serials(fun() -> seq_trace:set_token(serial, {-5, -9}), spawns(element(2, hd(Ways)), 2) end)}),
    t:p({largest, serials(fun() -> seq_trace:set_token(serial, {0, (1 bsl 59) - 1}), spawns(element(2, hd(Ways)), 2) end)}).

spawns(Way, N) ->
    Ps = [Way([self()]) || _ <- lists:seq(1, N)],
    [begin P ! go, receive {P, done} -> ok end end || P <- Ps].

child(To) -> receive go -> To ! {self(), done} end.

%% What is sent, in a process of its own, and with which serials.
serials(F) ->
    Me = self(),
    Tracer = spawn(fun() -> ?MODULE:give([]) end),
    seq_trace:set_system_tracer(Tracer),
    {P, M} = spawn_monitor(fun() ->
        seq_trace:set_token(label, 1),
        seq_trace:set_token(send, true),
        F(),
        T = seq_trace:get_token(serial),
        seq_trace:set_token([]),
        Me ! {serial, T}
    end),
    receive {'DOWN', M, process, P, normal} -> ok end,
    Last = receive {serial, T} -> T end,
    seq_trace:set_system_tracer(false),
    Tracer ! {give, self()},
    {Last, receive {all, All} -> All end}.

give(All) ->
    receive
        {give, To} -> To ! {all, lists:reverse(All)};
        {seq_trace, 1, {send, Serial, _, _, What}} -> give([{Serial, kind(What)} | All])
    end.
kind(go) -> go;
kind(What) -> case element(1, What) of A when is_atom(A) -> A; _ -> element(2, What) end.
