%% Every file operation on what is missing, a directory, a file in the way, or no name.
-module(file_errors_all).
-export([main/0]).
main() ->
    D = t:tmp("fe"), J = fun(X) -> filename:join(D, X) end, ok = file:write_file(J("f"), "data"), ok = file:make_dir(J("d")), ok = file:make_dir(J("d/e")), ok = file:make_symlink("nowhere", J("l")), ok = file:make_symlink("loop2", J("loop1")), ok = file:make_symlink("loop1", J("loop2")), Ns = [J("none"), J("none/x"), J("f/x"), J("d"), J("l"), J("loop1"), "", "a\0b", 1, {a}, lists:duplicate(5000, $x)], [t:p(F, [n(t:c(fun() -> apply(file, F, [N | A]) end)) || N <- Ns]) || {F, A} <- [{read_file, []}, {open, [[read]]}, {open, [[write, exclusive]]}, {list_dir, []}, {del_dir, []}, {delete, []}, {read_file_info, []}, {read_link_info, []}, {read_link, []}, {make_dir, []}, {rename, [J("new")]}, {copy, [J("copy")]}, {make_link, [J("hard")]}, {change_mode, [8#644]}, {change_time, [{{2000, 1, 1}, {0, 0, 0}}]}, {consult, []}, {script, []}, {eval, []}, {list_dir_all, []}, {read_link_all, []}, {set_cwd, []}]],
    t:p([file:format_error(E) || E <- [enoent, eisdir, enotdir, badarg, terminated, {1, erl_parse, ["x", "y"]}, bad]]).
n({ok, X}) when is_pid(X) -> file:close(X), opened; n({ok, X}) when is_tuple(X) -> {ok, element(3, X)}; n({ok, L}) when is_list(L) -> {ok, length(L)}; n(X) -> X.
