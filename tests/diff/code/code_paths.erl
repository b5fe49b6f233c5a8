%% The search path: adding, deleting, replacing, what is found where.
-module(code_paths).
-export([main/0]).
main() ->
    D = t:tmp("path"), [ok = filelib:ensure_dir(filename:join([D, X, "ebin", "x"])) || X <- ["app-1.0", "app-2.0", "other"]], P0 = code:get_path(), E = fun(X) -> filename:join([D, X, "ebin"]) end,
    t:p([code:add_patha(E("app-1.0")), code:add_pathz(E("other")), code:add_path(filename:join(D, "none")), code:add_pathsa([E("app-2.0")])]),
    t:p(length(code:get_path()) - length(P0)),
    t:p(lists:prefix(D, hd(code:get_path()))),
    t:p(filename:basename(filename:dirname(hd(code:get_path())))),
    t:p(case code:lib_dir(app) of {error, X} -> X; L -> filename:basename(L) end),
    t:p(case code:priv_dir(app) of {error, X2} -> X2; L2 -> filename:basename(filename:dirname(L2)) end),
    t:p(code:replace_path(app, E("app-1.0"))),
    t:p(code:replace_path(nopeapp, "/nope")),
    t:p([code:del_path(E("other")), code:del_path("nope"), code:del_path(app)]),
    t:p(code:set_path([bad])),
    t:p(code:set_path(P0)),
    t:p(code:get_path() =:= P0),
    t:p([code:where_is_file(F) =/= non_existing || F <- ["lists.beam", "nope.beam"]]),
    t:p(is_list(code:root_dir())),
    t:p(filename:basename(code:compiler_dir()) =/= ""),
    t:p(code:get_mode()),
    t:p(code:clash() =/= x),
    t:p(t:c(fun() -> code:lib_dir(1) end)),
    t:p(code:lib_dir(stdlib) =/= {error, bad_name}).
