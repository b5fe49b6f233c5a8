%% Starting programs: spawn and spawn_executable with arguments, names,
%% variables, folders; what the programs see; how they end.
-module(port_spawn).
-export([main/0]).

main() ->
    D = t:tmp("port_spawn"),
    process_flag(trap_exit, true),
    arguments(),
    environment(D),
    folders(D),
    descriptors(),
    statuses(),
    ends(D),
    bad(D),
    commands(),
    file:del_dir_r(D).

run(What, Opts) ->
    t:c(fun() -> P = open_port(What, Opts), all(P, []) end).

%% All that comes from a port until it is gone.
all(P, Acc) ->
    receive
        {P, {data, X}} -> all(P, [X | Acc]);
        {P, X} -> all(P, [X | Acc]);
        {'EXIT', P, R} -> join(lists:reverse([{exit, R} | Acc]), [])
    after 5000 -> {timeout, lists:reverse(Acc)}
    end.

join([B | T], Acc) when is_binary(B) -> join(T, [Acc, B]);
join([L | T], Acc) when is_list(L) -> join(T, [Acc, L]);
join(T, Acc) -> [iolist_to_binary(Acc) | T].

sh(_) -> {spawn_executable, "/bin/sh"}.
sh(Script, Opts) -> run(sh(Script), [{args, ["-c", Script]}, binary | Opts]).

arguments() ->
    Show = "for a in \"$@\"; do printf '<%s>' \"$a\"; done",
    [t:p({args, A, run({spawn_executable, "/bin/sh"}, [{args, ["-c", Show, "zero" | A]}, binary])})
     || A <- [[], ["a"], ["a b", "c\"d", "$x", "'"], [<<"bin">>, "", "x"], ["åäö"], [<<"å"/utf8>>], [[16#65E5]], ["new\nline"], ['atom']]],
    [t:p({arg0, A, run({spawn_executable, "/bin/sh"}, [{arg0, A}, {args, ["-c", "tr '\\0' ' ' </proc/$$/cmdline"]}, binary])})
     || A <- ["sh", <<"other">>, "with space", "åä"]],
    t:p({deep_name, run({spawn_executable, ["/bin", ["/ec"], $h, "o"]}, [{args, ["x"]}])}),
    t:p({bin_name, run({spawn_executable, <<"/bin/echo">>}, [{args, ["x"]}])}),
    t:p({no_args, run({spawn_executable, "/bin/echo"}, [])}),
    t:p({in_path, run({spawn_executable, "echo"}, [])}),
    t:p({find, os:find_executable("sh") =/= false, os:find_executable("no-such-program-here"), os:find_executable("sh", "/bin"), os:find_executable("sh", "/no"), os:find_executable("/bin/sh")}),
    [t:p({spawn, C, run({spawn, C}, [exit_status])})
     || C <- ["echo a  b", "echo 'a  b'", "echo \"x $HOME_NOT_SET y\"", "echo a; echo b", "echo $((1+2))", "  echo lead", <<"echo bin">>, 'echo atom', "echo åä", ["echo ", "deep"]]].

environment(_) ->
    os:putenv("KVIK_T1", "one"), os:putenv("KVIK_T2", "two"),
    Show = "echo \"[$KVIK_T1|$KVIK_T2|$KVIK_T3|${KVIK_T4-unset}]\"",
    [t:p({env, E, sh(Show, [{env, E}])})
     || E <- [[], [{"KVIK_T1", "changed"}], [{"KVIK_T1", false}], [{"KVIK_T3", "new"}, {"KVIK_T2", false}], [{"KVIK_T4", ""}],
              [{"KVIK_T3", "a=b c"}], [{"KVIK_T3", "å"}], [{"KVIK_T3", "1"}, {"KVIK_T3", "2"}], [{'KVIK_T3', "atom"}], [{<<"KVIK_T3">>, <<"bin">>}],
              [{"KVIK=X", "v"}], [{"", "v"}], [{"A", 1}], [x], x, [{"A"}], [{"A\0", "b"}], [{"A", "b\0"}]]],
    t:p([os:getenv("KVIK_T1"), os:unsetenv("KVIK_T1"), os:getenv("KVIK_T1"), os:getenv("KVIK_T1", "default"), os:putenv("KVIK_T5", "å"), os:getenv("KVIK_T5"),
         lists:member("KVIK_T2=two", os:getenv()), lists:keyfind("KVIK_T2", 1, os:env())]),
    t:p(sh("echo ${KVIK_T1-unset}", [])),
    [t:p({getenv, X, t:c(fun() -> os:getenv(t:id(X)) end), t:c(fun() -> os:putenv(t:id(X), "v") end), t:c(fun() -> os:unsetenv(t:id(X)) end)})
     || X <- ["", "A=B", a, 1, "A\0B", [300], [a], <<"x">>]].

folders(D) ->
    file:make_dir(filename:join(D, "wd")),
    W = filename:join(D, "wd"),
    Base = fun(R) -> case R of [B | T] when is_binary(B) -> [filename:basename(string:trim(B)) | T]; _ -> R end end,
    [t:p({cd, Base(sh("pwd", [{cd, C}]))}) || C <- [W, list_to_binary(W), "/", filename:join(D, "wd/../wd")]],
    [t:p({cd_bad, C, Base(sh("pwd", [{cd, C}]))}) || C <- ["/no/such", "/etc/passwd", "", x, 1, "a\0b"]],
    file:write_file(filename:join(W, "script"), "#!/bin/sh\necho script in `basename $PWD` $1\n"),
    file:change_mode(filename:join(W, "script"), 8#755),
    t:p({script, run({spawn_executable, filename:join(W, "script")}, [{cd, W}, {args, ["arg"]}])}),
    t:p({relative, run({spawn_executable, "./script"}, [{cd, W}])}),
    t:p({spawn_cd, run({spawn, "./script x"}, [{cd, W}])}).

descriptors() ->
    t:p({stderr, sh("echo out; echo err 1>&2; echo out2", [stderr_to_stdout])}),
    t:p({nouse, sh("echo x >&4; echo from $(cat <&3 | head -c 1) >&4", [nouse_stdio, in])}),
    t:p({in_only, t:c(fun() -> P = open_port({spawn, "sleep 0.3; echo x"}, [in]), R = t:c(fun() -> port_command(P, "y") end), {R, all(P, [])} end)}),
    t:p({out_only, t:c(fun() -> P = open_port({spawn, "cat >/dev/null; exit 3"}, [out, exit_status]), true = port_command(P, "y"), port_close(P), receive X -> X after 300 -> none end end)}),
    t:p({fds, sh("ls /proc/self/fd | wc -l", [])}).


statuses() ->
    [t:p({status, S, sh(S, [exit_status])}) || S <- ["exit 0", "exit 1", "exit 255", "exit 256", "kill -9 $$", "kill -15 $$", "kill -1 $$", "echo out; exit 4", "exec 1>&-; sleep 0.05; exit 5"]],
    [t:p({status_eof, S, begin P = open_port(sh(S), [{args, ["-c", S]}, exit_status, eof, binary]), R = [receive {P, X} -> X; {'EXIT', P, _} -> down after 3000 -> none end || _ <- [1, 2]], catch port_close(P), R end})
     || S <- ["exit 6", "kill -9 $$"]].

ends(_) ->
    P1 = open_port({spawn, "cat"}, []),
    t:p({info, is_integer(element(2, erlang:port_info(P1, os_pid)))}),
    {os_pid, Pid} = erlang:port_info(P1, os_pid),
    os:cmd("kill -9 " ++ integer_to_list(Pid)),
    t:p(all(P1, [])),
    P2 = open_port({spawn, "cat"}, [exit_status]),
    {os_pid, Pid2} = erlang:port_info(P2, os_pid),
    os:cmd("kill -9 " ++ integer_to_list(Pid2)),
    t:p(all(P2, [])),
    P3 = open_port({spawn, "cat"}, []),
    {os_pid, Pid3} = erlang:port_info(P3, os_pid),
    port_close(P3),
    t:p({gone, wait_gone(Pid3, 100)}),
    P4 = open_port({spawn, "sh -c 'echo first; exec sleep 100'"}, [binary]),
    t:p(receive {P4, M} -> M after 2000 -> none end),
    {os_pid, Pid4} = erlang:port_info(P4, os_pid),
    S = self(),
    {Owner, Ref} = spawn_monitor(fun() -> Q = open_port({spawn, "cat"}, []), S ! {q, erlang:port_info(Q, os_pid)}, exit(boom) end),
    {os_pid, Pid5} = receive {q, X} -> X end,
    t:p(receive {'DOWN', Ref, process, Owner, Why} -> Why end),
    t:p({owner_gone, wait_gone(Pid5, 100)}),
    exit(P4, kill),
    t:p(receive {'EXIT', P4, Y} -> Y after 2000 -> none end),
    os:cmd("kill -9 " ++ integer_to_list(Pid4)),
    %% A grandchild keeps the pipe: no end before it ends.
    P6 = open_port({spawn, "sh -c '(sleep 0.3; echo late) & echo early'"}, [binary, exit_status, stream]),
    t:p(all(P6, [])).

wait_gone(_, 0) -> still_there;
wait_gone(Pid, N) ->
    case os:cmd("kill -0 " ++ integer_to_list(Pid) ++ " 2>/dev/null && echo yes") of
        "" -> true;
        _ -> timer:sleep(20), wait_gone(Pid, N - 1)
    end.

bad(D) ->
    [t:p({bad_what, if W =:= {spawn_executable, D} -> dir; true -> W end, t:c(fun() -> open_port(t:id(W), []) end)})
     || W <- [x, {spawn}, {spawn, x, y}, {spawn, 1}, {spawn, ""}, {spawn_executable, ""}, {spawn_executable, 1}, {spawn_driver, "nope"}, {spawn_driver, 1}, {fd, a, 1}, {fd, -1, 1}, {spawn, "a\0b"}, {spawn, [256 bsl 20]}, {spawn_executable, "/no"}, {spawn_executable, "/"}, {spawn_executable, D}]],
    file:write_file(filename:join(D, "noexec"), "x"),
    t:p(t:c(fun() -> open_port({spawn_executable, filename:join(D, "noexec")}, []) end)),
    [t:p({bad_opt, O, t:c(fun() -> is_port(open_port({spawn, "true"}, t:id(O))) end)})
     || O <- [[x], x, [{packet, 3}], [{packet, 0}], [{packet, x}], [{line, 0}], [{line, -1}], [{line, x}], [line], [{args, ["x"]}], [{arg0, "x"}], [{cd, 1}], [{parallelism, x}], [{parallelism, true}],
              [{busy_limits_port, x}], [{busy_limits_port, {5, 3}}], [{busy_limits_port, {3, 5}}], [{busy_limits_port, disabled}], [{busy_limits_msgq, {1, 2}}], [{busy_limits_msgq, {2, 1}}], [{busy_limits_msgq, disabled}], [{busy_limits_msgq, 1}],
              [stream, {packet, 2}], [{line, 5}, {packet, 2}], [{packet, 2}, {line, 5}], [{packet, 2}, stream], [use_stdio, nouse_stdio], [nouse_stdio, stderr_to_stdout], [hide], [overlapped_io], [in | out], [{stream}], [exit_status, eof, binary, in, out], [stderr_to_stdout]]],
    [t:p({bad_exec_opt, O, t:c(fun() -> is_port(open_port({spawn_executable, "/bin/true"}, t:id(O))) end)})
     || O <- [[{args, x}], [{args, [1]}], [{args, ["a" | b]}], [{args, [["a", 300]]}], [{args, ["a\0b"]}], [{arg0, 1}], [{arg0, ["x", [$y]]}], [{args, []}]]],
    flush().

flush() -> receive _ -> flush() after 200 -> ok end.

commands() ->
    [t:p({cmd, C, t:c(fun() -> os:cmd(t:id(C)) end)})
     || C <- ["echo hello", "echo err 1>&2", 'echo atom', "printf 'no newline'", "true", "false", "cat", "exit 3; echo no", "echo åä", <<"echo bin">>, ["echo ", $x], "", "echo 'a\nb'", "no-such-program-at-all 2>/dev/null", 1, "a\0b", {x}, "kill -9 $$", "sleep 0.01 & echo bg"]],
    t:p({max, t:c(fun() -> os:cmd("yes 2>/dev/null | head -c 1000000", #{max_size => 10}) end), t:c(fun() -> os:cmd("echo x", #{max_size => a}) end), t:c(fun() -> os:cmd("echo x", x) end), t:c(fun() -> os:cmd("echo x", #{}) end)}),
    t:p({big, length(os:cmd("yes 2>/dev/null | head -c 300000"))}),
    t:p(lists:sort([R || _ <- [receive {c, R0} -> self() ! {d, R0} end || S <- [self()], N <- lists:seq(1, 20), _ <- [spawn(fun() -> S ! {c, os:cmd("echo " ++ integer_to_list(N))} end)]], R <- [receive {d, X} -> X end]])).
