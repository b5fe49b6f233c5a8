%% Natives on modules and funs.
-module(mx_code_bad).
-export([main/0]).
main() ->
    Ms = [lists, nope, "lists", 1, erlang, ''],
    m:fs(erlang, [module_loaded, check_old_code, delete_module, purge_module, get_module_info], [Ms -- [lists, erlang]]), m:f(erlang, function_exported, [Ms, [reverse, abs, 1], [1, a, -1, 300]]), m:f(erlang, is_builtin, [Ms, [reverse, abs, 1, '+'], [1, 2, a]]), m:f(erlang, make_fun, [Ms, [reverse, 1], [1, 255, 256, -1, a]]),
    m:f(erlang, get_module_info, [[nope, t, 1], [bad, module]]), m:f(erlang, fun_info, [[a, fun lists:map/2], [arity, name, module, env, type, bad, 1, uniq, new_index, pid, local]]), m:fs(erlang, [fun_info, fun_to_list], [[a, fun lists:map/2]]), m:f(erlang, is_function, [[a, fun lists:map/2, fun(X) -> X end], [0, 1, 2, -1, a, 1 bsl 70, 300]]),
    m:f(code, is_loaded, [Ms -- [lists]]), m:fs(code, [ensure_loaded, load_file, which, is_sticky, get_object_code], [[nope, "nope", 1]]), m:f(code, load_binary, [[nope, 1], ["x", 1], [<<>>, <<"x">>, a]]), m:f(code, load_abs, [["/nope", 1]]), m:fs(code, [lib_dir, priv_dir], [[nope, "nope-1"]]), m:fs(code, [add_path, add_patha, del_path], [["/nope", 1, nope]]), m:f(code, where_is_file, [["nope.beam"]]), m:f(erlang, check_process_code, [[self(), a], [nope, 1]]).
