%% escript: its header lines, arguments, exit codes, sections, source and beam.
-module(esc_flags).
-export([main/0]).
main() ->
    D = t:tmp("esc"), file:set_cwd(D), W = fun(N, S) -> ok = file:write_file(N, S), N end, [t:p(N, t:c(fun() -> {X, Y} = {escript:extract(N, []), ok}, {norm(X), Y} end)) || N <- [W("a", "#!/usr/bin/env escript\n%% comment\n%%! -smp +S 1\nmain(_) -> ok.\n"), W("b", "#!/usr/bin/env escript\nmain(_) -> ok.\n"), W("c", "main(_) -> ok.\n"), W("d", "#!/x\n%%! -a b\n"), W("e", ""), "none"]], {ok, Bin} = escript:create(binary, [shebang, comment, {emu_args, "-x y"}, {source, <<"%% s\nmain(_) -> ok.\n">>}]),
    t:p(Bin),
    t:p(escript:create("out", [{shebang, "/bin/esc"}, {comment, "c"}, {source, <<"x">>}])),
    t:p(file:read_file("out")),
    t:p([t:c(fun() -> escript:create(binary, O) end) || O <- [[], [bad], [{source, 1}]]]), {ok, m1, B} = compile:forms([{attribute, 1, module, m1}, {attribute, 1, export, [{main, 1}]}, {function, 1, main, 1, [{clause, 1, [{var, 1, '_'}], [], [{atom, 1, ok}]}]}], []), {ok, E} = escript:create(binary, [shebang, {beam, B}]), ok = file:write_file("bm", E), {ok, S} = escript:extract("bm", []),
    t:p([{K, case V of _ when is_binary(V) -> V =:= B; _ -> V end} || {K, V} <- S]), {ok, Z} = escript:create(binary, [shebang, {archive, [{"m1.beam", B}], []}]), ok = file:write_file("az", Z), {ok, S2} = escript:extract("az", []),
    t:p([K || {K, _} <- S2]),
    t:p(escript:extract("a", [compile_source]) =/= x).
norm({ok, L}) -> {ok, L}; norm(X) -> X.
