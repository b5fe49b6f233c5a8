%% What a module tells of itself, and what the code server tells.
-module(code_info).
-vsn(7).
-author("me").
-export([main/0, a/0, b/1]).
-record(r, {x}).
main() ->
    t:p(lists:sort(?MODULE:module_info(exports))), t:p([{F, A} || {F, A} <- lists:sort(?MODULE:module_info(functions)), hd(atom_to_list(F)) =/= $-]),
    t:p(?MODULE:module_info(attributes)), t:p(?MODULE:module_info(module)), t:p(byte_size(?MODULE:module_info(md5))),
    t:p(?MODULE:module_info(native)), t:p(lists:sort([K || {K, _} <- ?MODULE:module_info()])),
    t:p(lists:sort([K || {K, _} <- ?MODULE:module_info(compile)])), t:pc(fun() -> ?MODULE:module_info(nope) end),
    t:p(erlang:get_module_info(?MODULE, attributes)), t:pc(fun() -> erlang:get_module_info(no_such, attributes) end),
    t:p(filename:basename(code:which(?MODULE))), t:p([code:which(M) || M <- [erlang, no_such_mod, init]]),
    t:p([element(1, {code:is_loaded(M)}) =/= false || M <- [lists, ?MODULE, no_such_mod]]),
    t:p([erlang:function_exported(M, F, A) || {M, F, A} <- [{lists, map, 2}, {lists, map, 9}, {erlang, self, 0}, {?MODULE, a, 0}, {?MODULE, c, 0}, {no, no, 0}]]),
    t:p([erlang:is_builtin(M, F, A) || {M, F, A} <- [{erlang, self, 0}, {lists, reverse, 2}, {lists, map, 2}, {erlang, '+', 2}, {ets, insert, 2}]]),
    t:p(code:ensure_loaded(lists)), t:p(code:ensure_loaded(no_such_mod)), t:p(code:load_file(no_such_mod)), t:p(code:get_mode()),
    t:p(code:load_binary(bad, "bad", <<"not beam">>)), t:p(code:load_binary(bad, "bad", <<"FOR1", 0:32, "BEAM">>)),
    {?MODULE, Beam, File} = code:get_object_code(?MODULE), t:p({is_binary(Beam), filename:basename(File)}),
    t:p(code:load_binary(other_name, "x", Beam)), t:p(code:module_md5(Beam) =:= ?MODULE:module_info(md5)), t:p(code:module_md5(<<"x">>)),
    {ok, {?MODULE, Chunks}} = beam_lib:chunks(Beam, [exports, imports, attributes, labeled_exports]),
    t:p([{K, case K of imports -> [I || I = {t, _, _} <- lists:sort(V)]; attributes -> V; exports -> V; _ -> length(V) end} || {K, V} <- Chunks]),
    t:p(beam_lib:version(Beam)), t:p(beam_lib:chunks(<<"junk">>, [exports])),
    t:p(lists:member({erlang, []}, [{M, []} || M <- erlang:pre_loaded()])), t:p(#r{x = b(1)}),
    t:p([c(M) || M <- [lists, erlang, ?MODULE]]), t:p(is_list(code:get_path())), t:p(code:add_path("/no/such/dir")), t:p(code:del_path("/no/such/dir")),
    t:p(code:lib_dir(no_such_app)), t:p(filename:basename(code:lib_dir(stdlib)) =/= ""), t:p(code:priv_dir(no_such_app)),
    t:p(code:modified_modules() -- code:modified_modules()), t:p(code:is_sticky(lists)), t:p(code:is_sticky(?MODULE)), t:p(code:purge(lists)).
a() -> 1.
b(X) -> c(X).
c(X) -> X.
