%% consult, script, eval, path_open and their errors with places.
-module(file_consult_script).
-export([main/0]).
main() ->
    D = t:tmp("fc"), file:set_cwd(D), W = fun(N, S) -> ok = file:write_file(N, unicode:characters_to_binary(S)) end, W("a", "{a, 1}.\n[b].\n%% comment\n\"é\".\n"), W("b", "{a, 1.\n"), W("c", "{a, X}.\n"), W("d", "1. 2"), W("e", ""), W("f", "X = 5, Y = 6.\nX * Y.\n"), W("g", "foo(.\n"), W("h", "1 = 2.\n"), W("i", [255, 254, $., 10]), W("l1", "%% coding: latin-1\n"), ok = file:write_file("l1", <<"%% coding: latin-1\n\"", 233, "\".\n">>), [t:p(N, {file:consult(N), norm(t:c(fun() -> file:script(N) end)), norm(t:c(fun() -> file:eval(N) end))}) || N <- ["a", "b", "c", "d", "e", "f", "g", "h", "i", "l1", "none"]],
    t:p(file:script("f", [])),
    t:p(file:script("c", [{'X', bound}])),
    t:p(file:path_consult(["/nope", "."], "a") =/= x),
    t:p(element(1, file:path_consult(["/nope"], "a"))),
    t:p(element(1, file:path_open([".", "/"], "a", [read]))),
    t:p(file:path_open(["/nope"], "a", [read])),
    t:p([lists:flatten(file:format_error(E)) || {error, E} <- [file:consult(N) || N <- ["b", "c", "d"]]]),
    t:p(file:path_script(["."], "f") =/= x).
norm({error, {L, M, R}}) -> {error, {L, M, case R of {_, _, _} -> t:plain(element(1, R)); _ -> R end}}; norm(X) -> X.
