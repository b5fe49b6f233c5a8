%% What ports tell their tracer.
-module(trace_ports).
-export([main/0]).

main() ->
    Me = self(),
    T = spawn_link(fun tracer/0),
    put(names, [{Me, owner}]),
    io:format("~p~n", [erlang:trace(new_ports, true, [ports, send, 'receive', {tracer, T}])]),
    P = open_port({spawn, "cat"}, [binary]),
    erlang:trace(new_ports, false, [all]),
    name(P, port),
    io:format("~p ~p~n", [erlang:trace_info(P, flags), erlang:trace_info(P, tracer) =:= {tracer, T}]),
    show(T, open),
    true = register(trace_ports_name, P),
    true = unregister(trace_ports_name),
    true = register(trace_ports_name, P),
    show(T, names),
    true = port_command(P, [<<"he">>, "llo"]),
    receive {P, {data, <<"hello">>}} -> ok end,
    show(T, command),
    P ! {Me, {command, "again"}},
    receive {P, {data, <<"again">>}} -> ok end,
    show(T, message),
    true = unlink(P),
    true = link(P),
    show(T, links),
    Other = spawn(fun() -> receive {give, P} -> P ! {self(), {connect, Me}}, receive {P, connected} -> ok end end,
                           receive stop -> ok end end),
    name(Other, other),
    true = port_connect(P, Other),
    show(T, connect),
    Other ! {give, P},
    timer:sleep(50),
    show(T, connected),
    true = erlang:port_close(P),
    show(T, close),
    io:format("~p~n", [erlang:trace_info(P, flags)]),
    Q = open_port({spawn, "cat"}, [binary]),
    name(Q, second),
    io:format("~p~n", [erlang:trace(Q, true, [ports, send, 'receive', {tracer, T}])]),
    Q ! {Me, close},
    receive {Q, closed} -> ok end,
    show(T, closed),
    R = open_port({spawn, "sh -c '" ++ t:until(traced) ++ "exit 3'"}, [exit_status, in]),
    name(R, third),
    io:format("~p~n", [erlang:trace(R, true, [ports, {tracer, T}])]),
    t:now(traced),
    receive {R, {exit_status, 3}} -> ok end,
    timer:sleep(50),
    show(T, ended),
    S = open_port({spawn, "cat"}, [binary]),
    name(S, fourth),
    io:format("~p~n", [[catch_it(fun() -> erlang:trace(S, true, F) end) || F <- [[send], [call], [nonsense], [running_ports]]]]),
    io:format("~p~n", [erlang:trace_info(S, flags)]),
    1 = erlang:trace(S, false, [all]),
    N = length(erlang:ports()),
    io:format("~p~n", [[erlang:trace(ports, true, [send, {tracer, T}]) - N, erlang:trace(ports, false, [send]) - N]]),
    port_close(S),
    io:format("~p~n", [catch_it(fun() -> erlang:trace(S, true, [send]) end)]).

name(X, N) -> put(names, [{X, N} | get(names)]).

show(T, What) ->
    timer:sleep(60),
    T ! {get, self()},
    receive {events, L} -> io:format("~p~n", [What]), [io:format("  ~p~n", [plain(E)]) || E <- L] end.

tracer() -> tracer([]).
tracer(L) ->
    receive
        {get, From} -> From ! {events, lists:reverse(L)}, tracer([]);
        E -> tracer([E | L])
    end.

plain(T) when is_tuple(T) -> list_to_tuple(plain(tuple_to_list(T)));
plain([H | T]) -> [plain(H) | plain(T)];
plain(X) when is_pid(X); is_port(X) -> proplists:get_value(X, get(names), someone);
plain(X) -> X.

catch_it(F) ->
    try F() catch C:R -> {C, R} end.
