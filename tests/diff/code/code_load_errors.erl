%% Files that are no modules, of another name, sticky, on_load that fails.
-module(code_load_errors).
-export([main/0]).
main() ->
    D = t:tmp("ld"), file:set_cwd(D), C = fun(S) -> ok = file:write_file("lm.erl", S), {ok, M, B} = compile:file("lm.erl", [binary]), {M, B} end, {lm, B} = C("-module(lm).\n-export([f/0]).\nf() -> 1.\n"),
    t:p([code:load_binary(lm, "x", X) || X <- [<<>>, <<"FOR1">>, binary:part(B, 0, 100), <<B/binary, "tail">>, zlib:gzip(B), B]]),
    t:p(code:load_binary(other, "x", B)),
    t:p(t:c(fun() -> code:load_binary(lm, x, B) end)), ok = file:write_file("wrong.beam", B),
    t:p(code:load_abs(filename:absname("wrong"))), ok = file:write_file("lm.beam", B),
    t:p(code:add_patha(D) =:= true),
    t:p(code:load_file(lm)),
    t:p(code:which(lm) =:= filename:join(D, "lm.beam")), ok = file:write_file("broken.beam", "junk"),
    t:p(code:load_file(broken)),
    t:p(code:ensure_loaded(nonesuch)), [begin {lm, L} = C(["-module(lm).\n-on_load(l/0).\n-export([f/0]).\nf() -> 2.\nl() -> ", R, ".\n"]), code:purge(lm),
    t:p(R, code:load_binary(lm, "x", L)),
    t:p(t:c(fun() -> lm:f() end)), code:purge(lm), code:delete(lm), code:purge(lm) end || R <- ["ok", "false", "{error, x}", "exit(y)", "error(z)", "throw(w)", "f() - 2 =:= 0 andalso ok"]],
    t:p([code:is_sticky(X) || X <- [lists, lm]]), {lists, LB} = begin ok = file:write_file("lists.erl", "-module(lists).\n"), {ok, lists, LX} = compile:file("lists.erl", [binary]), {lists, LX} end,
    t:p(code:load_binary(lists, "x", LB)),
    t:p(code:module_status(lm)),
    t:p(code:get_object_code(nonesuch)),
    t:p(element(1, code:get_object_code(lm))).
