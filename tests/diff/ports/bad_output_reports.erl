%% Output to a port that is not iodata: what the caller and the owner get, and what is logged.
-module(bad_output_reports).
-export([main/0, log/2]).

main() ->
    ok = logger:set_primary_config(level, error),
    [logger:remove_handler(H) || H <- logger:get_handler_ids()],
    ok = logger:add_handler(here, ?MODULE, #{config => self()}),
    process_flag(trap_exit, true),
    [by_function(cat(), Data, []) || Data <- [foo, [a | b], [300], [["x", 1.0]], {}]],
    [by_function(cat(), foo, Flags) || Flags <- [[nosuspend], [force], [bad]]],
    by_function(closed(), foo, []),
    by_function(open_port({spawn, "cat -"}, [binary]), foo, []),
    by_function(open_port({spawn_executable, os:find_executable("cat")}, [{arg0, "x"}]), foo, []),
    Me = self(),
    P = cat(),
    say(other, spawned(fun() -> port_command(P, foo) end)),
    [by_message(M) || M <- [{Me, {command, foo}}, {Me, {command, [256]}}, {none, {command, foo}}, {Me, {command}}, {Me, hello}, hello,
                            {Me, {command, "ok"}}, {Me, {connect, foo}}]],
    Q = cat(),
    say(by_other, spawned(fun() -> Q ! {Me, {command, foo}} end)),
    R = cat(),
    say(not_owner, spawned(fun() -> R ! {self(), {command, foo}} end)),
    say(to_closed, closed() ! {Me, {command, foo}}),
    S = cat(),
    say(nosuspend, erlang:send_nosuspend(S, {Me, {command, foo}})),
    T = cat(),
    [say(F, result(fun() -> erlang:F(T, 1, foo) end)) || F <- [port_control, port_call]],
    {ok, L} = gen_tcp:listen(0, []),
    {ok, Port} = inet:port(L),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, Port, []),
    [say(tcp, gen_tcp:send(C, D)) || D <- [[a], [256], "ok"]],
    [say(listener, gen_tcp:send(L, D)) || D <- [[256], "ok"]],
    {ok, U} = gen_udp:open(0, []),
    [say(udp, gen_udp:send(U, {127, 0, 0, 1}, 9, D)) || D <- [[a], [256]]],
    gen_tcp:close(C),
    say(closed, gen_tcp:send(C, [256])).

log(Event, #{config := P}) -> P ! {event, Event}, ok.

cat() -> open_port({spawn, "cat"}, []).
closed() -> P = cat(), port_close(P), P.

by_function(P, Data, Flags) ->
    say({Data, Flags}, result(fun() -> port_command(P, Data, Flags) end)).
by_message(M) ->
    P = cat(),
    say(hide(M), hide(P ! case M of {none, X} -> {list_to_pid("<0.9999.0>"), X}; _ -> M end)).
hide({P, M}) when is_pid(P) -> {pid, M};
hide(M) -> M.

result(F) ->
    try F() catch C:R:S -> {M, N, _, I} = hd(S), {C, R, M, N, lists:sort(maps:to_list(proplists:get_value(error_info, I, #{})))} end.
spawned(F) ->
    {_, M} = spawn_monitor(fun() -> result(F) end),
    receive {'DOWN', M, _, _, R} -> R end.

say(What, Got) ->
    io:format("~0p: ~0p~n", [What, hide(Got)]),
    said().
%% The order of the exit signal and the event is not defined.
said() -> io:put_chars(lists:sort(heard())).
heard() ->
    receive
        {event, #{level := Level, msg := Msg, meta := Meta}} ->
            All = lists:sort(maps:to_list(maps:map(fun meta/2, Meta))),
            [io_lib:format("  ~0p ~0p ~0p~n", [Level, Msg, All]) | heard()];
        {'EXIT', P, R} when is_port(P), R =/= normal -> [io_lib:format("  exit ~0p~n", [R]) | heard()]
    after 200 -> []
    end.
meta(pid, P) -> P =:= self();
meta(gl, P) -> P =:= group_leader();
meta(time, T) -> is_integer(T);
meta(error_logger, M) -> lists:sort(maps:to_list(M));
meta(_, V) -> V.
