%% Functions on whole files and paths: copy, consult, eval, script, path_*,
%% sendfile, files that tell no size, links to them.
-module(file_whole).
-export([main/0]).

main() ->
    D = t:tmp("file_whole"),
    At = fun(N) -> filename:join(D, N) end,
    P = fun(Label, Fun) -> t:p({Label, plain(t:c(Fun), D)}) end,
    A = At("a"), B = At("b"),
    file:write_file(A, "0123456789"),
    [P({copy, N}, fun() -> {file:copy(A, B, N), file:read_file(B)} end) || N <- [infinity, 4, 0, 100, -1, a]],
    P(copy_none, fun() -> file:copy(At("none"), B) end),
    P(copy_to_dir, fun() -> file:copy(A, D) end),
    P(copy_dir, fun() -> file:copy(D, B) end),
    P(copy_modes, fun() -> {file:copy({A, [raw]}, {B, [append, raw]}), file:read_file(B)} end),
    P(copy_bad, fun() -> file:copy({A, [bad]}, B) end),
    [P({copy_handles, M1, M2}, fun() ->
           {ok, H1} = file:open(A, [read | M1]), {ok, H2} = file:open(B, [write | M2]),
           file:position(H1, 3),
           R = [file:copy(H1, H2, 4), file:copy(H1, H2), file:copy(H1, H2)],
           file:close(H1), file:close(H2),
           {R, file:read_file(B)} end)
     || M1 <- [[], [raw], [raw, read_ahead]], M2 <- [[], [raw], [raw, delayed_write]]],
    Big = binary:copy(<<"0123456789abcdef">>, 20000),
    file:write_file(A, Big),
    P(copy_big, fun() -> {file:copy(A, B), {ok, Big} =:= file:read_file(B)} end),
    terms(At, P),
    paths(D, P),
    special(At, P),
    sendfile(At, P, Big),
    P(write_file_modes, fun() -> [file:write_file(A, "abc", M) || M <- [[], [append], [raw], [exclusive], [append, raw], [bad], [read], bad]] end),
    P(contents, fun() -> file:read_file(A) end),
    [P({write_file, X}, fun() -> {file:write_file(A, t:id(X)), file:read_file(A)} end) || X <- [a, [a], "", <<>>, [256], [[], <<"x">> | <<"y">>], 5, <<1:1>>]],
    P(format_error, fun() -> [file:format_error(E) || E <- [enoent, eacces, badarg, system_limit, terminated, {1, erl_parse, ["x"]}, strange, {no, such}]] end),
    file:del_dir_r(D).

plain(T, D) when is_list(T) -> case lists:prefix(D, T) of true -> "D" ++ lists:nthtail(length(D), T); false -> plain_list(T, D) end;
plain(T, D) when is_tuple(T) -> list_to_tuple(plain_list(tuple_to_list(T), D));
plain(T, _) -> T.
plain_list([H | T], D) -> [plain(H, D) | plain_list(T, D)];
plain_list(T, D) when is_tuple(T) -> plain(T, D);
plain_list(T, _) -> T.

terms(At, P) ->
    T = At("terms"),
    [begin
         file:write_file(T, Text),
         P({consult, Text}, fun() -> file:consult(T) end),
         P({eval, Text}, fun() -> file:eval(T) end),
         P({eval_bound, Text}, fun() -> file:eval(T, [{'X', 1}]) end),
         P({script, Text}, fun() -> file:script(T) end),
         P({script_bound, Text}, fun() -> file:script(T, [{'X', 1}]) end)
     end || Text <- [<<>>, <<"{a, 1}. [b].\n">>, <<"X = 1, X + 1.">>, <<"bad bad.">>, <<"a.\nb c.\nd.">>, <<"unfinished">>, <<"\"åä\".">>,
                     <<"%% coding: utf-8\n\"å\"."/utf8>>, <<"%% coding: latin-1\n\"", 229, "\".">>, <<"\"", 229, "\".">>, <<"exit(x).">>, <<"throw(x).">>, <<"1/0.">>]],
    [P({F, none}, fun() -> apply(file, F, [At("none")]) end) || F <- [consult, eval, script]],
    [P({F, dir}, fun() -> apply(file, F, [At(".")]) end) || F <- [consult, eval, script]].

paths(D, P) ->
    [file:make_dir(filename:join(D, S)) || S <- ["p1", "p2"]],
    file:write_file(filename:join([D, "p2", "t"]), "{in, p2}. X = 1.\n"),
    file:write_file(filename:join([D, "p2", "u"]), "{in, p2}.\n"),
    Dirs = [filename:join(D, "p1"), filename:join(D, "none"), filename:join(D, "p2")],
    [P({F, plain(N, D)}, fun() -> closed(apply(file, F, [Dirs, N | more(F)])) end)
     || F <- [path_consult, path_eval, path_script, path_open], N <- ["u", "t", "none", a, "/none", filename:join([D, "p2", "u"])]],
    [P({F, bad}, fun() -> closed(apply(file, F, [t:id(bad), "u" | more(F)])) end) || F <- [path_consult, path_eval, path_script, path_open]].
more(path_open) -> [[read]];
more(_) -> [].
closed({ok, H, N}) when is_pid(H) -> file:close(H), {ok, pid, N};
closed(X) -> X.

special(At, P) ->
    P(null, fun() -> {file:read_file("/dev/null"), file:write_file("/dev/null", "x")} end),
    P(zero, fun() -> {ok, H} = file:open("/dev/zero", [read, raw, binary]), R = file:read(H, 5), file:close(H), R end),
    P(full, fun() -> {ok, H} = file:open("/dev/full", [write, raw]), R = file:write(H, "x"), {R, file:close(H)} end),
    P(full_ordinary, fun() -> {ok, H} = file:open("/dev/full", [write]), R = [file:write(H, "x"), file:write(H, "x")], {R, file:close(H)} end),
    P(full_delayed, fun() -> {ok, H} = file:open("/dev/full", [write, raw, {delayed_write, 10, 100000}]),
                             R = [file:write(H, "x"), file:write(H, "1234567890123"), file:write(H, "y"), file:sync(H), file:write(H, "z")], {R, file:close(H), file:close(H)} end),
    P(full_delayed_close, fun() -> {ok, H} = file:open("/dev/full", [write, raw, delayed_write]), R = file:write(H, "x"), {R, file:close(H), file:close(H)} end),
    P(full_whole, fun() -> file:write_file("/dev/full", "x") end),
    P(proc, fun() -> {ok, B} = file:read_file("/proc/self/status"), byte_size(B) > 100 end),
    P(proc_handle, fun() -> {ok, H} = file:open("/proc/self/status", [read]), {ok, L} = file:read_line(H), file:close(H), lists:sublist(L, 5) end),
    P(proc_big_read, fun() -> {ok, H} = file:open("/proc/self/status", [raw, read]), {ok, L} = file:read(H, 1000000), E = file:read(H, 10), file:close(H), {length(L) > 100, E} end).

sendfile(At, P, Big) ->
    F = At("send"),
    file:write_file(F, Big),
    [P({sendfile, Off, N, O}, fun() ->
           {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]),
           {ok, Port} = inet:port(L),
           S = self(),
           spawn_link(fun() -> {ok, C} = gen_tcp:accept(L), S ! {got, erlang:md5(drain(C, []))} end),
           {ok, Sock} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary]),
           {ok, H} = file:open(F, [read, raw, binary]),
           R = file:sendfile(H, Sock, Off, N, O),
           Pos = file:position(H, cur),
           file:close(H), gen_tcp:close(Sock),
           Len = case N of 0 -> byte_size(Big) - Off; _ -> min(N, byte_size(Big) - Off) end,
           {R, Pos, receive {got, M} -> M =:= erlang:md5(binary:part(Big, Off, Len)) after 5000 -> none end}
       end) || {Off, N, O} <- [{0, 0, []}, {10, 100, []}, {319990, 100, []}, {0, 100000, [{chunk_size, 1000}]}]],
    P(sendfile_name, fun() -> file:sendfile(At("none"), no_socket) end).
drain(C, Acc) -> case gen_tcp:recv(C, 0, 3000) of {ok, B} -> drain(C, [Acc, B]); _ -> gen_tcp:close(C), iolist_to_binary(Acc) end.
