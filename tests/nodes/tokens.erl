%% Tokens of sequential tracing that go to another node and come back: with messages, exits and requests
%% for processes. Both nodes' tracers are heard.
-module(tokens).
-export([main/0, tracer/0, child/1]).

main() ->
    N = two:other(),
    put(other, N),
    There = spawn(N, ?MODULE, tracer, []),
    true = rpc:call(N, seq_trace, reset_trace, []),
    _ = rpc:call(N, seq_trace, set_system_tracer, [There]),
    Here = spawn(?MODULE, tracer, []),
    seq_trace:set_system_tracer(Here),
    put(tracers, [Here, There]),
    Me = self(),
    part(spawn, fun() -> spawn(N, ?MODULE, child, [Me]), got() end),
    part(link, fun() -> unlink(spawn_link(N, ?MODULE, child, [Me])), got() end),
    part(monitor, fun() ->
        {P, R} = spawn_opt(N, ?MODULE, child, [Me], [monitor]), got(),
        receive {'DOWN', R, process, P, W} -> W end
    end),
    part(request, fun() ->
        R = spawn_request(N, ?MODULE, child, [Me], [{reply_tag, tag}]),
        receive {tag, R, ok, _} -> ok end, got()
    end),
    part(silent, fun() -> spawn_request(N, ?MODULE, child, [Me], [{reply, no}]), got() end),
    part(refused, fun() ->
        R = spawn_request(N, ?MODULE, child, [Me], [{link, 7}]),
        receive {spawn_reply, R, error, W} -> W end
    end),
    part(nowhere, fun() ->
        R = spawn_request('nobody@nowhere.invalid', ?MODULE, child, [Me], []),
        receive {spawn_reply, R, error, W} -> W end
    end),
    part(messages, fun() ->
        P = spawn(N, ?MODULE, child, [Me]), got(),
        P ! {again, Me}, got(), {rex, N} ! ignored
    end),
    part(lost, fun() ->
        P = spawn(N, ?MODULE, child, [Me]), got(),
        R = monitor(process, P), P ! {again, Me}, got(),
        erlang:disconnect_node(N),
        receive {'DOWN', R, process, P, W} -> W end
    end),
    seq_trace:set_system_tracer(false),
    rpc:call(N, seq_trace, set_system_tracer, [false]).

child(P) ->
    P ! {token, seq_trace:get_token(label), seq_trace:get_token(serial)},
    receive {again, From} -> child(From) after 300 -> ok end.
got() ->
    receive {token, L, S} -> {L, S} end.

tracer() -> tracer([]).
tracer(L) ->
    receive
        {give, From} -> From ! {events, self(), lists:reverse(L)}, tracer([]);
        E -> tracer([E | L])
    end.

part(What, F) ->
    [seq_trace:set_token(K, V) || {K, V} <- [{label, 17}, {serial, {0, 0}}, {send, true}, {'receive', true}]],
    R = F(),
    Token = case seq_trace:get_token() of {_, L, S, _, Last} -> {L, S, Last}; T -> T end,
    seq_trace:set_token([]),
    two:p(What, fun() -> {R, Token} end),
    seq_trace:reset_trace(),
    timer:sleep(400),
    [begin
         At ! {give, self()},
         [io:format("  ~p ~0tp~n", [where(At), plain(E)]) || E <- receive {events, At, Es} -> Es end, ours(E)]
     end || At <- get(tracers)],
    %% Children that are still there, the group leader's part, and `rex` keep none.
    true = rpc:call(get(other), seq_trace, reset_trace, []).

%% Others may send, too: code is looked for.
ours({seq_trace, 17, {_, _, _, _, M}}) ->
    is_tuple(M) andalso lists:member(element(1, M), [spawn_request, spawn_reply, tag, token, again, 'EXIT', 'DOWN'])
        orelse is_list(M) orelse M =:= ignored.
where(P) -> case node(P) =:= node() of true -> here; false -> there end.
plain({seq_trace, 17, {K, S, From, To, M}}) -> {K, S, plain(From), plain(To), plain(M)};
plain(X) when is_pid(X) -> where(X);
plain(X) when is_reference(X) -> ref;
plain(X) when X =:= node() -> this;
plain(X) when is_atom(X) -> case get(other) of X -> other; _ -> X end;
plain(X) when is_tuple(X) -> list_to_tuple(plain(tuple_to_list(X)));
plain([H | T]) -> [plain(H) | plain(T)];
plain(X) -> X.
