%% Programs that do not do what one hopes: they die in the middle of a line, close one of their
%% descriptors, cannot be started, leave a grandchild with the pipe, outlive their owner.
-module(port_faults).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    mid_line(),
    closes_stdout(),
    closes_stdin(),
    grandchild(),
    no_program(),
    owner_killed(),
    many_killed(),
    much_at_once(),
    ok.

sh(Script, Options) -> open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Script]} | Options]).

%% All that comes from a port, until nothing has for a while or it is gone.
all(P) -> all(P, 3000).
all(P, Time) ->
    receive
        {P, M} -> [M | all(P, if M =:= eof -> 300; true -> Time end)];
        {'EXIT', P, R} -> [{exit, R}]
    after Time -> []
    end.

mid_line() ->
    [begin
         P = sh(Script, Options ++ [binary]),
         t:p({mid_line, Script, Options, all(P, 1000)}),
         catch port_close(P)
     end || Script <- ["printf 'whole\\npart'; kill -9 $$", "printf 'part'; exit 4", "printf '\\000\\003abc\\000\\005de'; kill -9 $$"],
            Options <- [[{line, 100}, exit_status], [{line, 3}, exit_status], [{line, 100}], [{line, 100}, eof], [{packet, 2}, exit_status], [{packet, 2}], [exit_status, eof, {line, 100}]],
            not (hd(Options) =:= {packet, 2} andalso lists:prefix("printf 'w", Script))],
    flush().

%% It still reads what it is sent, and is gone when it ends.
closes_stdout() ->
    File = filename:join(os:getenv("DIFF_TMP", "/tmp"), "seen"),
    Script = "printf last; exec 1>&-; head -c 4 >" ++ File ++ "; exit 3",
    P = sh(Script, [eof, binary]),
    t:p({closed, [receive {P, M} -> M after 3000 -> none end || _ <- [1, 2]]}),
    t:p({still_there, erlang:port_info(P, connected) =:= {connected, self()}, port_command(P, "seen")}),
    t:p({read, wait_for(fun() -> file:read_file(File) =:= {ok, <<"seen">>} end)}),
    t:p({epipe, wait_for(fun() -> (catch port_command(P, "x")) =/= true end), all(P, 100)}),
    file:delete(File),
    P2 = sh(Script, [exit_status, binary]),
    t:p({closed, receive {P2, M2} -> M2 after 3000 -> none end}),
    t:p({nothing, receive {P2, M3} -> M3 after 100 -> none end}),
    port_command(P2, "seen"),
    t:p({status, all(P2)}),
    P3 = sh("exec 1>&-; sleep 0.2", [binary]),
    t:p({gone_at_once, all(P3)}),
    flush().

closes_stdin() ->
    P = sh("exec 0<&-; echo closed; sleep 0.3; echo later; exit 5", [{line, 80}, exit_status]),
    t:p({closed, receive {P, M} -> M after 3000 -> none end}),
    t:p({goes_on, all(P)}),
    P2 = sh("exec 0<&-; echo closed; sleep 1", [{line, 80}, exit_status]),
    receive {P2, _} -> ok after 3000 -> none end,
    t:p({broken, t:c(fun() -> port_command(P2, "x") end), all(P2)}),
    flush().

%% The end of the program is told when the last who has the pipe is gone.
grandchild() ->
    P = sh("(sleep 1.2; echo late) & echo early; exit 7", [{line, 80}, exit_status]),
    t:p({early, receive {P, M} -> M after 3000 -> none end}),
    t:p({not_yet, receive {P, M2} -> M2 after 150 -> none end}),
    t:p({late, all(P)}),
    P2 = sh("(sleep 1) & exit 7", [eof]),
    t:p({not_yet, receive {P2, M3} -> M3 after 100 -> none end}),
    t:p({eof, receive {P2, M4} -> M4 after 3000 -> none end}),
    catch port_close(P2),
    P3 = sh("exec 3<&0; (cat <&3 >/dev/null; sleep 2) & exit 0", [exit_status]),
    t:p({reader_stays, t:c(fun() -> port_command(P3, "x") end)}),
    port_close(P3),
    flush().

no_program() ->
    Dir = os:getenv("DIFF_TMP", "/tmp"),
    Plain = filename:join(Dir, "plain"),
    Script = filename:join(Dir, "no_interpreter"),
    ok = file:write_file(Plain, "echo x\n"),
    ok = file:write_file(Script, "#!/no/such/interpreter\n"),
    ok = file:change_mode(Script, 8#755),
    [t:p({no_program, filename:basename(F), t:c(fun() -> P = open_port({spawn_executable, F}, [exit_status, binary]), all(P) end)})
     || F <- ["/no/such/program", "/etc/passwd/x", "/", Dir, Plain, Script]],
    ok = file:change_mode(Plain, 8#755),
    t:p({no_magic, t:c(fun() -> P = open_port({spawn_executable, Plain}, [exit_status, binary]), all(P) end)}),
    [t:p({spawn, C, t:c(fun() -> P = open_port({spawn, C}, [exit_status, stderr_to_stdout]), lists:last(all(P)) end)})
     || C <- ["/no/such/program", "/", "no-such-program-at-all"]],
    t:p({left, length(erlang:ports()) < 10}),
    flush().

%% The program sees the end of its input.
owner_killed() ->
    File = filename:join(os:getenv("DIFF_TMP", "/tmp"), "ended"),
    [begin
         file:delete(File),
         S = self(),
         {Owner, Ref} = spawn_monitor(fun() -> P = sh("echo up; cat; echo x >" ++ File, []), receive {P, {data, _}} -> S ! {port, P} end, receive never -> ok end end),
         P = receive {port, P0} -> P0 end,
         M = monitor(port, P),
         exit(Owner, Why),
         t:p({owner, receive {'DOWN', Ref, process, Owner, R} -> R after 3000 -> none end, receive {'DOWN', M, port, P, R2} -> R2 after 3000 -> none end}),
         t:p({program, wait_for(fun() -> filelib:is_file(File) end), erlang:port_info(P)})
     end || Why <- [kill, stop]].

many_killed() ->
    Ps = [open_port({spawn_executable, "/bin/sleep"}, [{args, ["60"]}, exit_status]) || _ <- lists:seq(1, 100)],
    os:cmd(["kill -9" | [[" ", integer_to_list(element(2, erlang:port_info(P, os_pid)))] || P <- Ps]]),
    t:p({killed, lists:usort([receive {P, X} -> X after 5000 -> none end || P <- Ps])}),
    t:p({ended, lists:usort([receive {'EXIT', P, X} -> X after 5000 -> none end || P <- Ps])}),
    flush().

%% Much of it; a slow owner has all of it.
much_at_once() ->
    N = 100000000,
    P = open_port({spawn, "head -c " ++ integer_to_list(N) ++ " /dev/zero"}, [binary, exit_status]),
    t:p({much, count(P, 0)}),
    P2 = open_port({spawn, "head -c 3000000 /dev/zero"}, [binary, eof]),
    timer:sleep(100),
    t:p({slowly, count(P2, 0)}),
    catch port_close(P2),
    flush().
count(P, N) -> receive {P, {data, B}} -> count(P, N + byte_size(B)); {P, X} -> {N, X} after 10000 -> {N, timeout} end.

wait_for(F) -> wait_for(F, 150).
wait_for(_, 0) -> timeout;
wait_for(F, N) -> case F() of true -> true; _ -> timer:sleep(20), wait_for(F, N - 1) end.

flush() -> receive _ -> flush() after 50 -> ok end.
