%% How arguments in flag variables and in files are split: quotes, backslashes, comments, `-extra`, and the
%% errors of files that cannot be read.
-module(flag_quotes).
-export([main/0, show/0]).

main() ->
    ok = file:write_file("inner", "-a inner -extra i"),
    ok = file:make_dir("folder"),
    All = [{variables, [{"ERL_FLAGS", T}]} || T <- texts()] ++ [{file, T} || T <- texts()] ++
        [{file, T} || T <- ["-a 'b # c' \"#d\" e # f\n-b\t1\v2\f3", "# only", "", "-a \0 b", "-extra q", "x -extra q -a",
                            "-b 1 -args_file inner -c 2", "-b 1 -extra x -args_file inner -c 2", "-args_file nosuch", "-args_file"]] ++
        [{variables, V} || V <- [[{"ERL_ZFLAGS", "-extra q"}], [{"ERL_AFLAGS", "-extra q"}, {"ERL_FLAGS", "r -extra s"}],
                                 [{"ERL_AFLAGS", "-a b"}, {"ERL_ZFLAGS", "c -b d"}], [{"ERL_FLAGS", "-args_file inner"}]]] ++
        [{line, L} || L <- ["-args_file nosuch", "-args_file folder", "-args_file", "-args_file inner/x"]],
    shown(lists:enumerate(All)).

%% A few at a time, as each starts a machine.
shown(Few) when length(Few) =< 4 ->
    [receive {'DOWN', M, _, _, Text} -> io:put_chars(Text) end
     || {_, M} <- [spawn_monitor(fun() -> exit(shown(N, One)) end) || {N, One} <- Few]];
shown(Many) ->
    {Few, Rest} = lists:split(4, Many),
    shown(Few),
    shown(Rest).

texts() ->
    [lists:flatten(lists:join(" ", ["-a", "\"multi\\nline\"", "\"d\\\\n e\"", "\"b c\"", "'b c'", "'b\\c'", "'b\\'c' d'", "b\\ c", "b\\\"c",
                                    "b\\\\c", "b\\'c", "\"b'c\"", "'d\"e'", "b\"c d\"'e f'g", "\"\"", "''", "\"b\\\"c\" d\"", "b#c",
                                    "\\#", "\\\tb", "\"-b\" x"])),
     "-a b\\", "-a \"b c", "-a 'b c", "-a \"b\\"].

shown(_, {variables, All} = V) ->
    say(V, run([[Name, "=", quoted(Text), " "] || {Name, Text} <- All], "-m 1 n"));
shown(N, {file, Text} = F) ->
    Name = "args" ++ integer_to_list(N),
    ok = file:write_file(Name, Text),
    say(F, run("", "-m 1 n -args_file " ++ Name ++ " o"));
shown(_, {line, L}) ->
    say(L, run("", L)).

say(What, Said) ->
    {ok, Here} = file:get_cwd(),
    io_lib:format("~0p:~n  ~ts~n", [What, string:replace(hd(string:split(Said, "\n")), Here, "HERE")]).

quoted(Text) -> ["'", string:replace(Text, "'", "'\\''", all), "'"].

run(Set, Args) ->
    Beams = filename:dirname(code:which(?MODULE)),
    Flags = "-noinput -kernel logger_level none -pa " ++ Beams ++ " -s flag_quotes show ",
    os:cmd(lists:flatten([Set, "$VM $VM_FLAGS ", Flags, Args, " 2>&1"])).

show() ->
    Flags = [F || {N, _} = F <- init:get_arguments(), lists:member(N, [a, b, c, m])],
    io:format("~0p ~0p~n", [Flags, init:get_plain_arguments()]),
    halt().
