%% Ports as tracers: OTP's drivers that write events to files (also to some of limited size, in turn)
%% and to a socket, a program, and what becomes of tracing when such a port ends.
-module(tracer_ports).
-export([main/0, work/1]).

main() ->
    file(),
    wrapped(),
    timed(),
    socket(),
    program(),
    ends(),
    others(),
    wrong().

file() ->
    {ok, _} = dbg:tracer(port, dbg:trace_port(file, "plain")),
    P = worker(),
    {ok, _} = dbg:p(P, [call, m, procs]),
    {ok, _} = dbg:tpl(?MODULE, work, x),
    ask(P, 2),
    exit(P, done),
    gone(P),
    delivered(),
    t:p(size, filelib:file_size("plain")),
    t:p(flush, dbg:flush_trace_port()),
    {ok, Bytes} = file:read_file("plain"),
    t:p(frames, frames(Bytes) =:= read("plain")),
    each(file, read("plain")),
    dbg:stop_clear(),
    t:p(kept, byte_size(Bytes) =:= filelib:file_size("plain")).

%% Events, as they stand in a file.
frames(<<0, N:32, B:N/binary, Rest/binary>>) -> [binary_to_term(B) | frames(Rest)];
frames(<<>>) -> [].

wrapped() ->
    {ok, _} = dbg:tracer(port, dbg:trace_port(file, {"wrap", wrap, ".log", 1000, 3})),
    P = worker(),
    {ok, _} = dbg:p(P, [call]),
    {ok, _} = dbg:tpl(?MODULE, work, []),
    [begin
         ask(P, N),
         t:p(files, [{F, filelib:file_size(F)} || F <- filelib:wildcard("wrap*")])
     end || N <- [5, 20, 20, 20, 20, 20, 40, 1, 60]],
    delivered(),
    dbg:flush_trace_port(),
    Last = [N || {trace, _, call, {_, work, [N]}} <- read({"wrap", wrap, ".log", 1000, 3})],
    t:p(last, Last),
    dbg:stop_clear().

%% A new file each so many milliseconds, and no more of them than asked for.
timed() ->
    {ok, _} = dbg:tracer(port, dbg:trace_port(file, {"timed", wrap, ".log", {time, 20}, 2})),
    until(fun() -> lists:member("timed2.log", filelib:wildcard("timed*")) end),
    until(fun() -> not lists:member("timed0.log", filelib:wildcard("timed*")) end),
    until(fun() -> lists:member("timed0.log", filelib:wildcard("timed*")) end),
    dbg:stop_clear(),
    t:p(timed, length(filelib:wildcard("timed*")) =< 3).

%% What comes before somebody reads is kept. (Of many such events OTP's own driver makes a crash of
%% OTP: its queue is not empty at first.)
socket() ->
    {ok, _} = dbg:tracer(port, dbg:trace_port(ip, 0)),
    {ok, Port} = dbg:trace_port_control(get_listen_port),
    P = worker(),
    {ok, _} = dbg:p(P, [call]),
    {ok, _} = dbg:tpl(?MODULE, work, []),
    ask(P, 9),
    delivered(),
    Me = self(),
    C = dbg:trace_client(ip, Port, {fun(T, []) -> Me ! {event, T}, [] end, []}),
    t:p(kept, [t:plain(event()) || _ <- lists:seq(0, 9)]),
    ask(P, 3),
    t:p(sent, [t:plain(event()) || _ <- lists:seq(0, 3)]),
    ask(P, 500),
    t:p(many, length([event() || _ <- lists:seq(0, 500)])),
    dbg:stop_trace_client(C),
    gone(C),
    ask(P, 0),
    dbg:stop_clear().
event() -> receive {event, T} -> T after 5000 -> nothing end.

program() ->
    Q = open_port({spawn, "cat >program"}, [{packet, 4}, out]),
    P = worker(),
    1 = erlang:trace(P, true, [procs, {tracer, Q}]),
    exit(P, done),
    gone(P),
    delivered(),
    port_close(Q),
    Read = fun() ->
        case file:read_file("program") of
            {ok, <<N:32, B:N/binary>>} -> {N, binary_to_term(B)};
            _ -> false
        end
    end,
    until(fun() -> Read() =/= false end),
    t:p(program, Read()).

ends() ->
    Q = port("ends"),
    P = worker(),
    t:pc(trace, fun() -> erlang:trace(P, true, [call, procs, {tracer, Q}]) end),
    t:p(tracer, erlang:trace_info(P, tracer) =:= {tracer, Q}),
    t:pc(other, fun() -> erlang:trace(P, true, [call]) end),
    port_close(Q),
    t:p(tracer, erlang:trace_info(P, tracer)),
    t:p(flags, erlang:trace_info(P, flags)),
    t:pc(closed, fun() -> erlang:trace(P, true, [call, {tracer, Q}]) end),
    t:p(flags, erlang:trace_info(P, flags)),
    t:pc(again, fun() -> erlang:trace(P, true, [call]) end),
    t:pc(new, fun() -> erlang:trace(new, true, [procs, {tracer, Q}]) end),
    erlang:trace(new, false, [all]),
    exit(P, kill).

others() ->
    Q = port("others"),
    Me = self(),
    t:p(meta, erlang:trace_pattern({?MODULE, work, 1}, [{[1], [], [{return_trace}]}], [{meta, Q}])),
    t:p(meta, erlang:trace_info({?MODULE, work, 1}, meta) =:= {meta, Q}),
    ?MODULE:work(3),
    erlang:trace_pattern({?MODULE, work, 1}, false, [meta]),
    t:p(seq, seq_trace:set_system_tracer(Q)),
    t:p(seq, seq_trace:get_system_tracer() =:= Q),
    seq_trace:set_token(label, 7),
    seq_trace:set_token(send, true),
    Me ! with_token,
    seq_trace:set_token([]),
    t:p(seq, seq_trace:set_system_tracer(false) =:= Q),
    R = open_port({spawn, "cat"}, [binary]),
    t:p(port, erlang:trace(R, true, [send, ports, {tracer, Q}])),
    R ! {Me, {command, "abc"}},
    receive {R, {data, <<"abc">>}} -> ok end,
    port_close(R),
    catch erlang:trace(Q, true, [send, 'receive', ports, {tracer, Q}]),
    P = spawn(fun() -> receive go -> Me ! gone end end),
    1 = erlang:trace(P, true, [send, set_on_spawn, {tracer, Q}]),
    P ! go,
    gone(P),
    delivered(),
    t:p(control, port_control(Q, $f, "")),
    t:pc(no_control, fun() -> port_control(Q, $g, "") end),
    each(others, read("others")),
    port_close(Q).

wrong() ->
    process_flag(trap_exit, true),
    t:pc(nowhere, fun() -> port("/nowhere/x") end),
    t:pc(folder, fun() -> port(".") end),
    [t:pc(W, fun() -> open_port({spawn, "trace_file_drv" ++ W}, []) end)
     || W <- ["", " x", " n", " w 1 2 3 n x", " w 10 2 0 9 n x", " w 10 2 0 1 x"]],
    I = (dbg:trace_port(ip, 0))(),
    [t:pc(W, fun() -> open_port({spawn_driver, "trace_ip_drv" ++ W}, []) end)
     || W <- ["", " 0", " 0 0 0", " x y z", " -1 1 2"]],
    t:p(port, byte_size(port_control(I, $p, ""))),
    t:pc(no_control, fun() -> port_control(I, $f, "") end),
    port_close(I),
    t:pc(file, fun() -> erlang:trace(self(), true, [call, {tracer, list_to_port("#Port<0.123456>")}]) end),
    t:p(dbg, dbg:trace_client(file, "nowhere", {fun(T, []) -> T end, []}) =/= ok).

port(File) -> (dbg:trace_port(file, File))().

worker() -> spawn(fun loop/0).
loop() -> receive {From, N} -> ?MODULE:work(N), From ! did, loop() end.
work(0) -> none;
work(N) -> work(N - 1).
ask(P, N) -> P ! {self(), N}, receive did -> ok end.

%% A port gets its events in a time of its own.
delivered() ->
    R = erlang:trace_delivered(all),
    receive {trace_delivered, all, R} -> ok end.
gone(P) ->
    R = monitor(process, P),
    receive {'DOWN', R, _, _, _} -> ok end.
until(F) ->
    case F() of
        true -> ok;
        false -> timer:sleep(5), until(F)
    end.
read(Files) ->
    Me = self(),
    dbg:trace_client(file, Files, {fun(end_of_trace, L) -> Me ! {read, lists:reverse(L)}, [];
                                      (T, L) -> [T | L] end, []}),
    receive {read, L} -> L after 5000 -> nothing end.
each(What, Events) -> [t:p(What, untimed(E)) || E <- Events].
untimed(E) when element(1, E) =:= trace_ts -> setelement(tuple_size(E), E, time);
untimed({seq_trace, L, {send, Serials, _, _, M}}) -> {seq_trace, L, send, Serials, M};
untimed(E) -> E.
