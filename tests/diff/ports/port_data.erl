%% What comes out of ports and goes into them: lines, packets, streams; much of
%% it; programs that stop reading; who may send.
-module(port_data).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    lines(),
    packets(),
    streams(),
    volume(),
    busy(),
    broken(),
    messages(),
    many(),
    ok.

cat(O) -> open_port({spawn_executable, "/bin/cat"}, O).
take1(P) -> receive {P, M} -> M; {'EXIT', P, R} -> {exit, R} after 3000 -> nothing end.
gets(P, N) -> [take1(P) || _ <- lists:seq(1, N)].

lines() ->
    [begin
         P = cat([{line, N}, B]),
         [port_command(P, T) || T <- ["abc\n", "\n", "12345678901234567890\n", "a\r\nb\r\r\n\r\n", <<"å\n"/utf8>>, "no", " end", "\nx\ny\n"]],
         t:p({line, N, B, collect_lines(P, "y", [])}),
         port_close(P)
     end || N <- [1, 2, 3, 5, 10, 80, 100000], B <- [binary, stream]],
    [begin
         P = open_port({spawn, "printf '" ++ S ++ "'"}, [{line, 4}, exit_status, binary]),
         t:p({ends_in, S, all(P)})
     end || S <- ["ab", "ab\\n", "abcd", "abcd\\n", "abcdef", "abcd\\r", "abc\\r\\n", "\\r", ""]].

collect_lines(P, Last, Acc) ->
    case take1(P) of
        {data, {eol, X}} = D -> case iolist_to_binary([X]) =:= iolist_to_binary(Last) of true -> lists:reverse([D | Acc]); false -> collect_lines(P, Last, [D | Acc]) end;
        nothing -> lists:reverse([nothing | Acc]);
        D -> collect_lines(P, Last, [D | Acc])
    end.

packets() ->
    [begin
         P = cat([{packet, N}, binary]),
         [t:p({packet, N, L, t:c(fun() -> port_command(P, lists:duplicate(L, $x)) end), case take1(P) of {data, B} -> {byte_size(B), erlang:crc32(B)}; O -> O end}) || L <- [0, 1, 255, 10000, 70000], L bsr (8 * N) =:= 0],
         port_close(P)
     end || N <- [1, 2, 4]],
    P1 = cat([{packet, 1}]),
    t:p({too_long, t:c(fun() -> port_command(P1, lists:duplicate(256, $x)) end), take1(P1)}),
    P2 = cat([{packet, 2}]),
    t:p({too_long, t:c(fun() -> P2 ! {self(), {command, binary:copy(<<"x">>, 65536)}} , sent end), take1(P2)}),
    P3 = open_port({spawn, "printf '\\000\\003abc\\000\\005de'"}, [{packet, 2}, exit_status]),
    t:p({cut_short, gets(P3, 2), flush()}),
    P4 = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", "printf '\\000\\003ab'; sleep 0.05; printf 'c\\000'; sleep 0.05; printf '\\002xy'"]}, {packet, 2}, eof]),
    t:p({in_pieces, gets(P4, 3)}),
    catch port_close(P4),
    flush().

streams() ->
    P = cat([stream, binary]),
    port_command(P, [<<"a">>, "b", [$c, [<<"d">> | <<"e">>]]]),
    t:p(take1(P)),
    t:p(t:c(fun() -> port_command(P, []) end)),
    t:p(t:c(fun() -> port_command(P, <<>>) end)),
    [t:p({X, t:c(fun() -> port_command(P, t:id(X)) end)}) || X <- [a, [a], [300], {x}, 7, ["x" | y]]],
    [t:p({F, t:c(fun() -> port_command(P, "f", t:id(F)) end), get_if(P, F)}) || F <- [[], [force], [nosuspend], [nosuspend, force], [bad], x, [x | y]]],
    port_close(P),
    P2 = open_port({spawn, "sleep 5"}, [in]),
    t:p({in, t:c(fun() -> port_command(P2, "x") end), take1(P2)}),
    P3 = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", "echo out; cat >/dev/null"]}, out]),
    t:p({out, t:c(fun() -> port_command(P3, "x") end), receive {P3, X} -> X after 200 -> none end}),
    catch port_close(P3),
    flush().
get_if(P, F) when F =:= []; F =:= [nosuspend] -> take1(P);
get_if(_, _) -> -1.

volume() ->
    [begin
         P = cat(O ++ [binary]),
         Data = rand(N),
         S = self(),
         spawn_link(fun() -> unlink(S), port_connect_ok(P), port_command(P, Data), S ! written end),
         R = take(P, N, 0, erlang:crc32(<<>>)),
         t:p({volume, O, N, R =:= {N, erlang:crc32(iolist_to_binary(Data))}, receive written -> ok after 3000 -> none end}),
         port_close(P), flush()
     end || O <- [[], [stream]], N <- [1000, 100000, 3000000]],
    P2 = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", "yes 0123456789abcdef | head -n 100000"]}, {line, 100}, binary, exit_status]),
    t:p({lines, count(P2, 0)}),
    P3 = cat([{line, 100000}, binary]),
    Long = binary:copy(<<"x">>, 99999),
    [port_command(P3, [Long, $\n]) || _ <- lists:seq(1, 20)],
    t:p({long_lines, [case take1(P3) of {data, {eol, Long}} -> ok; Y -> Y end || _ <- lists:seq(1, 20)]}),
    port_close(P3).
port_connect_ok(_) -> ok.
rand(N) -> [binary:copy(<<(I rem 256)>>, 1000) || I <- lists:seq(1, N div 1000)].
take(_, N, N, Crc) -> {N, Crc};
take(P, N, Have, Crc) -> receive {P, {data, B}} -> take(P, N, Have + byte_size(B), erlang:crc32(Crc, B)) after 5000 -> {Have, Crc} end.
count(P, N) -> receive {P, {data, {eol, <<"0123456789abcdef">>}}} -> count(P, N + 1); {P, X} -> {N, X} after 5000 -> {N, timeout} end.

busy() ->
    %% Nobody reads: the sender stops, others go on.
    P = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", t:until(read) ++ "cat >/dev/null"]}, binary, exit_status]),
    S = self(),
    Big = binary:copy(<<"x">>, 200000),
    W = spawn(fun() -> [port_command(P, Big) || _ <- lists:seq(1, 5)], S ! {self(), done} end),
    suspended(W),
    t:p({waits, receive {W, done} -> no after 0 -> yes end, t:c(fun() -> port_command(P, "x", [nosuspend]) end)}),
    t:now(read),
    t:p({goes_on, receive {W, done} -> yes after 5000 -> no end}),
    t:p({later, t:c(fun() -> wait_not_busy(P, 50) end)}),
    port_close(P),
    %% Closed while somebody waits.
    P2 = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", "exec sleep 60"]}]),
    W2 = spawn(fun() -> R = [t:c(fun() -> port_command(P2, Big) end) || _ <- lists:seq(1, 3)], S ! {self(), R} end),
    suspended(W2),
    exit(P2, kill),
    t:p({closed, receive {W2, R} -> lists:last(R) after 3000 -> nothing end}),
    P4 = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", "exec sleep 60"]}]),
    W4 = spawn(fun() -> [port_command(P4, Big) || _ <- lists:seq(1, 3)], S ! {self(), done} end),
    suspended(W4),
    exit(W4, kill),
    t:await(fun() -> not is_process_alive(W4) end),
    t:p({killed, is_process_alive(W4), erlang:port_info(P4, connected) =:= {connected, S}}),
    t:p({queue, element(2, erlang:port_info(P4, queue_size)) > 100000}),
    exit(P4, kill),
    flush().
wait_not_busy(_, 0) -> busy;
wait_not_busy(P, N) -> case port_command(P, "x", [nosuspend]) of true -> true; false -> timer:sleep(20), wait_not_busy(P, N - 1) end.

broken() ->
    P = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", "exec 0<&-; echo closed; " ++ t:until(over) ++ "exit 3"]}, exit_status]),
    {data, "closed\n"} = take1(P),
    t:p({epipe, t:c(fun() -> port_command(P, "x") end), take1(P)}),
    t:now(over),
    P2 = open_port({spawn, "true"}, [out]),
    ended(P2),
    t:p({dead, [t:c(fun() -> port_command(P2, binary:copy(<<"x">>, 100)) end) || _ <- [1]], take1(P2)}),
    t:p({after_that, t:c(fun() -> port_command(P2, "x") end), t:c(fun() -> P2 ! {self(), {command, "x"}}, ok end), t:c(fun() -> port_close(P2) end)}),
    P3 = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", "head -c 10; exit 0"]}, stream, exit_status]),
    port_command(P3, binary:copy(<<"y">>, 1000000)),
    t:p({half_read, take1(P3), lists:member(take1(P3), [{exit, epipe}, {exit_status, 0}])}),
    flush().

suspended(W) -> t:await(fun() -> process_info(W, status) =:= {status, suspended} end).
%% Its program has, whether or not somebody has asked for its status.
ended(P) ->
    {os_pid, Pid} = erlang:port_info(P, os_pid),
    t:await(fun() ->
        case file:read_file(lists:concat(["/proc/", Pid, "/stat"])) of
            {ok, Stat} -> string:find(Stat, ") Z ") =/= nomatch;
            {error, _} -> true
        end
    end).

messages() ->
    P = cat([binary]),
    S = self(),
    [begin P ! M, t:p({M =:= x, take1(P), receive {'EXIT', F, R} -> {is_pid(F), R} after 30 -> none end}) end || M <- [{S, {command, "ok"}}, {S, {connect, S}}]],
    Other = spawn(fun() -> process_flag(trap_exit, true), (fun Loop() -> receive stop -> ok; {'EXIT', F, R} -> S ! {other_got, is_port(F), R}, Loop(); _ -> Loop() end end)() end),
    P ! {S, {connect, Other}},
    t:p({connected, take1(P), erlang:port_info(P, connected) =:= {connected, Other}}),
    %% No longer its owner.
    [begin
         {Q, M} = spawn_monitor(fun() -> P ! Msg, receive after 300 -> ok end end),
         t:p({not_owner, Msg =:= nonsense, receive {'DOWN', M, process, Q, R} -> R end, is_process_alive(Other)})
     end || Msg <- [{S, {command, "x"}}, nonsense, {S}, {S, close}, {Other, nonsense}, {Other, {command, a}}, {Other, {connect, x}}, {x, close}]],
    P ! {Other, {command, "goes to other"}},
    t:p([receive X -> {got, X} after 100 -> none end || _ <- lists:seq(1, 9)]),
    P ! {Other, close},
    timer:sleep(50),
    t:p(erlang:port_info(P)),
    t:p(t:c(fun() -> P ! {S, close}, sent end)),
    Other ! stop,
    flush(),
    P2 = cat([]),
    P2 ! {self(), close},
    t:p({close, take1(P2), receive {'EXIT', P2, Why} -> Why after 1000 -> none end}),
    P3 = cat([binary]),
    t:p({link_call, unlink(P3), erlang:port_info(P3, links), link(P3), erlang:port_info(P3, links) =:= {links, [self()]}}),
    Mon = erlang:monitor(port, P3),
    t:p({monitored, erlang:port_info(P3, monitored_by) =:= {monitored_by, [self()]}}),
    port_close(P3),
    t:p({down, receive {'DOWN', Mon, port, P3, W3} -> W3 after 1000 -> none end, receive {'EXIT', P3, E3} -> E3 after 1000 -> none end}),
    t:p({down_late, begin M4 = erlang:monitor(port, P3), receive {'DOWN', M4, port, P3, W4} -> W4 after 1000 -> none end end}),
    t:p({link_late, t:c(fun() -> link(P3) end), receive {'EXIT', P3, W5} -> W5 after 1000 -> none end}),
    P6 = cat([]),
    register(the_cat, P6),
    M6 = erlang:monitor(port, the_cat),
    the_cat ! {self(), {command, "by name"}},
    t:p({named, take1(P6), erlang:port_info(the_cat, registered_name), erlang:port_info(the_cat, name), port_command(the_cat, "x"), take1(P6)}),
    port_close(the_cat),
    t:p({named_down, receive {'DOWN', M6, port, {the_cat, N6}, W6} -> {N6 =:= node(), W6} after 1000 -> none end, whereis(the_cat), t:c(fun() -> the_cat ! x end)}),
    flush(),
    P7 = cat([]),
    t:p({data, t:c(fun() -> erlang:port_get_data(P7) end), erlang:port_set_data(P7, {some, "term", 1 bsl 80}), erlang:port_get_data(P7)}),
    [t:p({control, t:c(fun() -> erlang:port_control(P7, t:id(Op), t:id(A)) end), t:c(fun() -> erlang:port_call(P7, t:id(Op), t:id(A)) end)}) || {Op, A} <- [{1, "x"}, {a, "x"}, {1, a}, {-1, ""}, {1 bsl 40, ""}]],
    [t:p({I, t:c(fun() -> plain(I, erlang:port_info(P7, t:id(I))) end)}) || I <- [name, links, id, connected, input, output, os_pid, registered_name, monitors, monitored_by, parallelism, queue_size, memory, locking, nonsense, 1]],
    t:p({infos, [K || {K, _} <- erlang:port_info(P7)]}),
    port_command(P7, "12345"), take1(P7),
    t:p([erlang:port_info(P7, input), erlang:port_info(P7, output)]),
    t:p([t:c(fun() -> erlang:port_info(t:id(X)) end) || X <- [x, 1, self(), no_such_name]]),
    t:p([t:c(fun() -> F(t:id(X)) end) || F <- [fun port_close/1, fun(X) -> port_command(X, "") end, fun(X) -> port_connect(X, self()) end, fun link/1, fun(X) -> erlang:port_control(X, 1, "") end], X <- [x, 1, "p"]]),
    t:p([t:c(fun() -> port_connect(P7, t:id(X)) end) || X <- [x, 1, P7]]),
    t:p({dead_pid, t:c(fun() -> D = spawn(fun() -> ok end), timer:sleep(30), port_connect(P7, D) end)}),
    t:p([is_list(port_to_list(P7)), list_to_port(port_to_list(P7)) =:= P7, is_port(P7), t:c(fun() -> list_to_port("#Port<x>") end)]),
    catch port_close(P7),
    flush().
plain(id, {id, N}) -> is_integer(N);
plain(os_pid, {os_pid, N}) -> is_integer(N);
plain(memory, {memory, N}) -> is_integer(N);
plain(connected, {connected, P}) -> P =:= self();
plain(links, {links, L}) -> L =:= [self()];
plain(_, X) -> X.

many() ->
    Ps = [cat([{line, 100}, binary]) || _ <- lists:seq(1, 100)],
    [port_command(P, [integer_to_list(I), $\n]) || I <- lists:seq(1, 5), P <- Ps],
    t:p({many, lists:all(fun(P) -> [take1(P) || _ <- lists:seq(1, 5)] =:= [{data, {eol, integer_to_binary(I)}} || I <- lists:seq(1, 5)] end, Ps)}),
    [port_close(P) || P <- Ps],
    flush(),
    t:p({sequence, [begin P = open_port({spawn_executable, "/bin/true"}, [exit_status]), R = take1(P), catch port_close(P), R end || _ <- lists:seq(1, 30)]}),
    Ks = [open_port({spawn, "sleep 60"}, [exit_status]) || _ <- lists:seq(1, 40)],
    os:cmd("kill -9 " ++ lists:join(" ", [integer_to_list(element(2, erlang:port_info(K, os_pid))) || K <- Ks])),
    t:p({killed, lists:usort([take1(K) || K <- Ks])}),
    flush(),
    t:p({left, [erlang:port_info(P, name) || P <- erlang:ports(), lists:member(P, Ps ++ Ks)]}).

all(P) -> case take1(P) of {exit, R} -> [{exit, R}]; nothing -> [nothing]; X -> [X | all(P)] end.

flush() -> receive X -> [] ++ flush1(X) after 50 -> [] end.
flush1(_) -> flush().
