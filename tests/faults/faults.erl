%% What Erlang code sees of faults between the VM and the operating system. Each case is a process of its
%% own VM; `kvik:inject_faults/1` says which calls fail.
-module(faults).
-export([main/1, cases/1]).

%% Prints the cases' names.
cases(_) ->
    [io:format("~s~n", [C]) || {C, _} <- all()],
    halt(0).

main([Case | Args]) ->
    Name = list_to_existing_atom(Case),
    {Name, F} = lists:keyfind(Name, 1, all()),
    %% What a case calls is loaded before any fault.
    ok = code:ensure_modules_loaded([io, io_lib, os, file_io_server, raw_file_io_list, raw_file_io_delayed,
                                     gen_tcp, gen_udp, inet_tcp, inet_udp, socket, prim_socket, timer]),
    {Pid, Ref} = spawn_monitor(fun() -> F(Args) end),
    receive {'DOWN', Ref, process, Pid, Why} -> ok end,
    kvik:clear_faults(),
    case Why of
        normal -> io:format("ok ~s~n", [Case]), halt(0);
        _ -> io:format("FAIL ~s: ~0tp~n", [Case, Why]), halt(1)
    end.

all() ->
    [{disk_full, fun disk_full/1},
     {disk_full_in_the_middle, fun disk_full_in_the_middle/1},
     {delayed_write, fun delayed_write/1},
     {read_error, fun read_error/1},
     {no_descriptors, fun no_descriptors/1},
     {sync_error, fun sync_error/1},
     {accept_without_descriptors, fun accept_without_descriptors/1},
     {no_more_sockets, fun no_more_sockets/1},
     {connection_reset, fun connection_reset/1},
     {send_reset, fun send_reset/1},
     {short_sends, fun short_sends/1},
     {short_receives, fun short_receives/1},
     {socket_module, fun socket_module/1},
     {datagrams, fun datagrams/1},
     {no_program, fun no_program/1},
     {no_pipe, fun no_pipe/1},
     {short_pipes, fun short_pipes/1},
     {program_broken, fun program_broken/1},
     {no_threads, fun no_threads/1},
     {clock_jumps, fun clock_jumps/1},
     {clock_jumps_warp, fun clock_jumps_warp/1},
     {an_hour_in_no_time, fun an_hour_in_no_time/1},
     {wrong_faults, fun wrong_faults/1}].

inject(Text) -> ok = kvik:inject_faults(Text).
struck(Fault) -> proplists:get_value(Fault, kvik:faults()).
%% Removes what is injected; the counts too.
clear() -> ok = kvik:clear_faults().

%% ---- files

disk_full([Dir]) ->
    {ok, F} = file:open(Dir ++ "/full", [write, raw, binary]),
    inject("file_write:enospc"),
    {error, enospc} = file:write(F, <<"text">>),
    {error, enospc} = file:pwrite(F, 0, <<"text">>),
    {error, enospc} = file:write(F, [<<"a">>, <<"b">>, lists:duplicate(9, <<0:8000>>)]),
    {error, enospc} = file:write_file(Dir ++ "/full2", <<"text">>),
    4 = struck(file_write),
    clear(),
    ok = file:write(F, <<"text">>),
    ok = file:close(F),
    {ok, <<"text">>} = file:read_file(Dir ++ "/full").

disk_full_in_the_middle([Dir]) ->
    {ok, F} = file:open(Dir ++ "/half", [write, raw, binary]),
    inject("file_write:short:nth=1,file_write:enospc:nth=2"),
    {error, enospc} = file:write(F, <<"0123456789">>),
    clear(),
    {ok, 5} = file:position(F, cur),
    ok = file:write(F, <<"x">>),
    ok = file:close(F),
    {ok, <<"01234x">>} = file:read_file(Dir ++ "/half").

%% The error of a write that was put off comes with the next call.
delayed_write([Dir]) ->
    {ok, F} = file:open(Dir ++ "/delayed", [write, raw, binary, {delayed_write, 1000, 60000}]),
    inject("file_write:enospc"),
    ok = file:write(F, <<"text">>),
    {error, enospc} = file:sync(F),
    clear(),
    ok = file:close(F).

read_error([Dir]) ->
    Name = Dir ++ "/read",
    ok = file:write_file(Name, binary:copy(<<"line\n">>, 1000)),
    {ok, F} = file:open(Name, [read, raw, binary]),
    {ok, Io} = file:open(Name, [read, binary, {read_ahead, 100}]),
    %% Loads what such a read calls.
    {ok, Before} = file:open(Name, [read, binary]),
    {ok, <<"line\n">>} = file:read_line(Before),
    inject("file_read:eio"),
    {error, eio} = file:read(F, 10),
    {error, eio} = file:pread(F, 0, 10),
    %% OTP's file_io_server crashes with any read error.
    {error, terminated} = file:read_line(Io),
    {error, eio} = file:read_file(Name),
    clear(),
    {ok, <<"line\nline\n">>} = file:read(F, 10).

no_descriptors([Dir]) ->
    ok = file:write_file(Dir ++ "/open", <<"text">>),
    inject("file_open:emfile"),
    {error, emfile} = file:open(Dir ++ "/open", [read, raw]),
    {error, emfile} = file:open(Dir ++ "/open", [read]),
    {error, emfile} = file:read_file(Dir ++ "/open"),
    {error, emfile} = file:copy(Dir ++ "/open", Dir ++ "/open2"),
    clear(),
    {ok, <<"text">>} = file:read_file(Dir ++ "/open").

sync_error([Dir]) ->
    {ok, F} = file:open(Dir ++ "/sync", [write, raw]),
    inject("file_sync:eio"),
    {error, eio} = file:sync(F),
    {error, eio} = file:datasync(F),
    clear(),
    ok = file:sync(F).

%% ---- sockets

listen() ->
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(L),
    {L, Port}.
pair() ->
    {L, Port} = listen(),
    {ok, A} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    {ok, B} = gen_tcp:accept(L),
    {A, B}.

accept_without_descriptors(_) ->
    {L, Port} = listen(),
    {ok, _} = gen_tcp:connect({127, 0, 0, 1}, Port, []),
    inject("socket_accept:emfile:nth=1"),
    {error, emfile} = gen_tcp:accept(L, 5000),
    {ok, _} = gen_tcp:accept(L, 5000).

no_more_sockets(_) ->
    inject("socket_open:emfile"),
    {error, emfile} = gen_tcp:listen(0, []),
    {error, emfile} = gen_udp:open(0),
    {error, emfile} = socket:open(inet, stream),
    clear(),
    inject("socket_connect:econnrefused"),
    {error, econnrefused} = gen_tcp:connect({127, 0, 0, 1}, 9, []).

connection_reset(_) ->
    {A, B} = pair(),
    ok = gen_tcp:send(A, <<"text">>),
    inject("socket_receive:econnreset:nth=1"),
    %% Without show_econnreset the stream has ended, as in OTP.
    {error, closed} = gen_tcp:recv(B, 4, 5000),
    clear(),
    {C, D} = pair(),
    ok = inet:setopts(D, [{show_econnreset, true}]),
    ok = gen_tcp:send(C, <<"text">>),
    inject("socket_receive:econnreset:nth=1"),
    {error, econnreset} = gen_tcp:recv(D, 4, 5000),
    clear(),
    {E, F} = pair(),
    ok = inet:setopts(F, [{show_econnreset, true}]),
    inject("socket_receive:econnreset:nth=1"),
    ok = gen_tcp:send(E, <<"text">>),
    ok = inet:setopts(F, [{active, true}]),
    receive {tcp_error, F, econnreset} -> ok end,
    receive {tcp_closed, F} -> ok end.

send_reset(_) ->
    {A, _} = pair(),
    ok = inet:setopts(A, [{show_econnreset, true}]),
    inject("socket_send:econnreset:nth=1"),
    {error, econnreset} = gen_tcp:send(A, <<"text">>),
    {error, enotconn} = gen_tcp:send(A, <<"text">>),
    {error, econnreset} = gen_tcp:recv(A, 0, 5000).

%% Nothing is lost or sent twice where each call sends half.
short_sends(_) ->
    {A, B} = pair(),
    Data = pattern(100000),
    inject("socket_send:short"),
    Self = self(),
    spawn_link(fun() -> Self ! {got, gen_tcp:recv(B, byte_size(Data), 20000)} end),
    ok = gen_tcp:send(A, Data),
    receive {got, {ok, Data}} -> ok end,
    true = struck(socket_send) > 1.

short_receives(_) ->
    {A, B} = pair(),
    ok = inet:setopts(B, [{packet, 4}]),
    ok = inet:setopts(A, [{packet, 4}]),
    inject("socket_receive:short"),
    [begin
         Data = pattern(N),
         ok = gen_tcp:send(A, Data),
         {ok, Data} = gen_tcp:recv(B, 0, 20000)
     end || N <- [1, 2, 3, 100, 5000, 70000]],
    true = struck(socket_receive) > 6.

socket_module(_) ->
    {ok, L} = socket:open(inet, stream),
    ok = socket:bind(L, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(L),
    {ok, At} = socket:sockname(L),
    {ok, A} = socket:open(inet, stream),
    ok = socket:connect(A, At),
    inject("socket_accept:emfile:nth=1"),
    {error, emfile} = socket:accept(L, 5000),
    {ok, B} = socket:accept(L, 5000),
    clear(),
    Data = pattern(10000),
    inject("socket_send:short,socket_receive:short"),
    ok = socket:send(A, Data, 5000),
    {ok, Data} = socket:recv(B, 10000, 5000),
    clear(),
    inject("socket_send:epipe:nth=1"),
    {error, epipe} = socket:send(A, Data),
    inject("socket_receive:econnreset"),
    {error, econnreset} = socket:recv(B, 1, 5000).

datagrams(_) ->
    {ok, A} = gen_udp:open(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(A),
    inject("datagram_send:enobufs:nth=1"),
    {error, enobufs} = gen_udp:send(A, {127, 0, 0, 1}, Port, <<"text">>),
    ok = gen_udp:send(A, {127, 0, 0, 1}, Port, <<"text">>),
    inject("datagram_receive:econnrefused:nth=1"),
    {error, econnrefused} = gen_udp:recv(A, 0, 5000),
    {ok, {_, Port, <<"text">>}} = gen_udp:recv(A, 0, 5000).

%% ---- programs

posix(F) ->
    try F() catch error:Why -> Why end.

no_program(_) ->
    process_flag(trap_exit, true),
    inject("spawn:eagain"),
    eagain = end_of_port({spawn_executable, "/bin/cat"}),
    eagain = end_of_port({spawn, "cat"}),
    clear(),
    true = is_port(open_port({spawn_executable, "/bin/cat"}, [])).

%% A thread starts the program: the port may be there before that fails.
end_of_port(Name) ->
    try open_port(Name, []) of
        Port -> receive {'EXIT', Port, Why} -> Why end
    catch
        error:Why -> Why
    end.

no_pipe(_) ->
    inject("pipe_open:emfile"),
    emfile = posix(fun() -> open_port({spawn_executable, "/bin/cat"}, []) end),
    clear().

short_pipes(_) ->
    P = open_port({spawn_executable, "/bin/cat"}, [binary, {packet, 2}]),
    inject("pipe_write:short,pipe_read:short"),
    [begin
         Data = pattern(N),
         true = port_command(P, Data),
         receive {P, {data, Data}} -> ok end
     end || N <- [1, 100, 60000]],
    true = struck(pipe_write) > 3,
    true = struck(pipe_read) > 3.

program_broken(_) ->
    process_flag(trap_exit, true),
    P = open_port({spawn_executable, "/bin/cat"}, [binary]),
    inject("pipe_write:epipe:nth=1"),
    true = port_command(P, <<"text">>),
    receive {'EXIT', P, epipe} -> ok end.

%% ---- threads

%% What would go to a thread is done without one.
no_threads([Dir]) ->
    "" = os:cmd("cd " ++ Dir ++ "; mkfifo fifo; (echo text >fifo) >/dev/null 2>&1 &"),
    inject("thread_spawn:eagain"),
    {ok, <<"text\n">>} = file:read_file(Dir ++ "/fifo"),
    {ok, F} = file:open(Dir ++ "/threads", [write, raw]),
    ok = file:write(F, <<"text">>),
    ok = file:sync(F),
    true = struck(thread_spawn) > 0.

%% ---- time

clock_jumps(_) ->
    T = ets:new(t, []),
    true = ets:safe_fixtable(T, true),
    {Mega, S, _} = os:timestamp(),
    Mono = erlang:monotonic_time(second),
    System = erlang:system_time(second),
    inject("clock_jump:+1h:nth=1"),
    true = (os:system_time(second) - (Mega * 1000000 + S)) >= 3600,
    %% Erlang's own times go on as before.
    true = (erlang:monotonic_time(second) - Mono) < 600,
    true = (erlang:system_time(second) - System) < 600,
    {Fixed, _} = ets:info(T, safe_fixed_monotonic_time),
    true = erlang:convert_time_unit(Fixed, native, second) - Mono < 600,
    {{M2, S2, _}, _} = ets:info(T, safe_fixed),
    true = abs(M2 * 1000000 + S2 - System) < 600.

%% +C multi_time_warp: system time follows, and who monitors the offset hears of it.
clock_jumps_warp(_) ->
    Ref = erlang:monitor(time_offset, clock_service),
    System = erlang:system_time(second),
    inject("clock_jump:+1h:nth=1"),
    receive {'CHANGE', Ref, time_offset, clock_service, Offset} ->
        Offset = erlang:time_offset()
    end,
    true = (erlang:system_time(second) - System) >= 3600.

%% KVIK_CLOCK=virtual
an_hour_in_no_time(_) ->
    Ms = 3600 * 1000,
    Began = erlang:monotonic_time(millisecond),
    Began = erlang:monotonic_time(millisecond),
    System = os:system_time(millisecond),
    Ref = erlang:start_timer(Ms, self(), hour),
    Self = self(),
    Sleeper = spawn_link(fun() -> timer:sleep(Ms), Self ! {slept, erlang:monotonic_time(millisecond)} end),
    %% Timers of one moment ring in the order in which they were set.
    [erlang:send_after(Ms + 1, self(), {nth, N}) || N <- lists:seq(1, 20)],
    wait_until(fun() -> process_info(Sleeper, status) =:= {status, waiting} end),
    true = kvik:advance_clock(Ms - 1),
    1 = erlang:read_timer(Ref),
    receive Early -> error({early, Early}) after 0 -> ok end,
    true = kvik:advance_clock(1),
    receive {timeout, Ref, hour} -> ok end,
    %% A receive ends with the first whole millisecond.
    true = kvik:advance_clock(1),
    receive {slept, At} -> At = Began + Ms + 1 end,
    [receive {nth, N} -> ok; {nth, M} -> error({order, N, M}) end || N <- lists:seq(1, 20)],
    true = os:system_time(millisecond) =:= System + Ms + 1,
    true = erlang:monotonic_time(millisecond) =:= Began + Ms + 1.

%% ---- the tool itself

wrong_faults(_) ->
    {error, Why} = kvik:inject_faults("file_write:nonsense"),
    true = is_binary(Why),
    {error, _} = kvik:inject_faults("nothing:eio"),
    {'EXIT', {badarg, _}} = (catch kvik:inject_faults(text)),
    {'EXIT', {badarg, _}} = (catch kvik:advance_clock(-1)),
    false = kvik:advance_clock(1),
    true = lists:all(fun({_, N}) -> N =:= 0 end, kvik:faults()).

wait_until(F) ->
    case F() of
        true -> ok;
        false -> erlang:yield(), wait_until(F)
    end.

%% Bytes in which a piece that is missing or there twice shows.
pattern(N) ->
    binary:part(<< <<(I * 7919 rem 65521):16>> || I <- lists:seq(0, N div 2) >>, 0, N).
