%% What file:read_file_info and its kin say and set: types, access, times in
%% every form, links, modes, owners; errors of each.
-module(file_infos).
-export([main/0]).
-include_lib("kernel/include/file.hrl").

main() ->
    D = t:tmp("file_infos"),
    F = filename:join(D, "f"), L = filename:join(D, "l"), S = filename:join(D, "s"),
    file:write_file(F, "twelve bytes"),
    t:p([file:make_link(F, L), file:make_symlink("f", S), file:make_symlink("nowhere", filename:join(D, "dangling"))]),
    times(F),
    [t:p({N, O, show(t:c(fun() -> file:Fun(filename:join(D, N), O) end))})
     || Fun <- [read_file_info, read_link_info], N <- ["f", "l", "s", "dangling", ".", "none", "f/x"],
        O <- [[], [raw], [{time, posix}], [raw, {time, universal}], [{time, local}], [{time, nonsense}], [nonsense], bad]],
    handles(F, D),
    write_infos(F, S),
    [t:p({t:c(fun() -> filename:basename(N) end), t:c(fun() -> file:read_link(t:id(N)) end), t:c(fun() -> file:read_link_all(t:id(N)) end)})
     || N <- [S, F, D ++ "/none", "", a, {b}, filename:join(D, "dangling")]],
    [t:p({A, t:c(fun() -> {element(1, A), apply(file, element(1, A), [filename:join(D, X) || X <- element(2, A)])} end)})
     || A <- [{make_link, ["none", "x"]}, {make_link, ["f", "l"]}, {make_link, ["f", "no/l"]},
              {make_symlink, ["f", "s"]}, {make_symlink, ["f", "no/l"]}, {rename, ["none", "x"]}, {rename, ["f", "no/x"]},
              {rename, ["f", "."]}, {make_dir, ["f"]}, {make_dir, ["no/x"]}, {make_dir, ["f/x"]}, {del_dir, ["f"]},
              {del_dir, ["none"]}, {delete, ["none"]}, {delete, ["."]}, {delete, ["f/x"]}, {list_dir, ["f"]}, {list_dir, ["none"]},
              {list_dir_all, ["none"]}, {read_file, ["f/x"]}, {del_dir_r, ["none"]}, {make_dir, ["d1"]}, {rename, ["f", "d1"]},
              {rename, ["d1", "f"]}, {make_dir, ["d2"]}, {rename, ["d1", "d2"]}, {rename, ["d2", "d2/x"]}, {rename, ["l", "f"]},
              {rename, ["l", "l2"]}, {delete, ["s"]}, {delete, ["dangling"]}]],
    t:p(lists:sort(element(2, file:list_dir(D)))),
    file:del_dir_r(D).

%% Numbers that differ from run to run are checked, not shown.
show({ok, #file_info{} = I}) ->
    #file_info{size = Size, type = Type, access = Access, mode = Mode, links = Links,
               atime = A, mtime = M, ctime = C, inode = N, uid = U, gid = G, major_device = Maj, minor_device = Min} = I,
    {if Type =:= directory -> dir; true -> Size end, Type, Access, Mode band 8#170000,
     if Type =:= directory -> some; true -> Links end, [time(T) || T <- [A, M, C]], is_integer(N) andalso N > 0, is_integer(U), is_integer(G),
     is_integer(Maj), is_integer(Min)};
show(Other) -> Other.

time(T) when is_integer(T) -> posix;
time({{Y, _, _}, {_, _, _}}) when Y > 1990, Y < 2200 -> date;
time(Other) -> Other.

times(F) ->
    T = {{2001, 2, 3}, {4, 5, 6}}, T2 = {{2033, 12, 31}, {23, 59, 58}},
    t:p([t:c(fun() -> file:change_time(F, T) end), mtime(F, [{time, local}])]),
    t:p([t:c(fun() -> file:change_time(F, T, T2) end), mtime(F, [{time, local}]), atime(F, [{time, local}])]),
    t:p([t:c(fun() -> file:write_file_info(F, #file_info{mtime = 1000000000, atime = 1000000001}, [{time, posix}]) end),
         mtime(F, [{time, posix}]), atime(F, [{time, posix}]), mtime(F, [{time, universal}])]),
    t:p([t:c(fun() -> file:write_file_info(F, #file_info{mtime = T, atime = T2}, [{time, universal}]) end),
         mtime(F, [{time, posix}]), atime(F, [{time, posix}])]),
    t:p([t:c(fun() -> file:write_file_info(F, #file_info{mtime = 5}, [raw, {time, posix}]) end), mtime(F, [{time, posix}])]),
    t:p([t:c(fun() -> file:write_file_info(F, #file_info{mtime = -5, atime = 1 bsl 33}, [raw, {time, posix}]) end),
         mtime(F, [{time, posix}]), atime(F, [{time, posix}])]),
    [t:p({X, t:c(fun() -> file:change_time(F, t:id(X)) end)})
     || X <- [a, {a, b}, 17, {{2001, 13, 1}, {0, 0, 0}}, {{2001, 1, 1}, {25, 0, 0}}, {{1960, 1, 1}, {0, 0, 0}}]],
    t:p(t:c(fun() -> file:change_time(F ++ "none", T) end)),
    t:p(filelib:last_modified(F ++ "none")).

mtime(F, O) -> {ok, I} = file:read_file_info(F, O), I#file_info.mtime.
atime(F, O) -> {ok, I} = file:read_file_info(F, O), I#file_info.atime.

handles(F, D) ->
    [begin
         {ok, H} = file:open(F, M),
         t:p({M, show(t:c(fun() -> file:read_file_info(H) end)), show(t:c(fun() -> file:read_file_info(H, [{time, posix}]) end))}),
         file:close(H),
         t:p(show(t:c(fun() -> file:read_file_info(H) end)))
     end || M <- [[read], [raw], [raw, read_ahead], [raw, write, read], [raw, write, delayed_write]]],
    {ok, H} = file:open(D, [raw, directory]),
    t:p(show(file:read_file_info(H))),
    file:close(H),
    file:write_file(F, "twelve bytes").

write_infos(F, S) ->
    Mode = fun() -> {ok, I} = file:read_file_info(F), I#file_info.mode band 8#7777 end,
    [t:p({M, t:c(fun() -> file:change_mode(F, t:id(M)) end), Mode()}) || M <- [8#644, 8#600, 8#7777, 8#444, 8#100755, a, -1, 1 bsl 40, 8#644]],
    t:p([t:c(fun() -> file:write_file_info(F, #file_info{mode = 8#640}) end), Mode()]),
    t:p([t:c(fun() -> file:write_file_info(S, #file_info{mode = 8#600}) end), Mode()]),
    {ok, I} = file:read_file_info(F),
    t:p(t:c(fun() -> file:write_file_info(F, I) end)),
    t:p(t:c(fun() -> file:write_file_info(F, #file_info{}) end)),
    t:p(t:c(fun() -> file:write_file_info(F ++ "none", #file_info{mode = 8#600}) end)),
    t:p(t:c(fun() -> file:write_file_info(F, t:id(x)) end)),
    t:p(t:c(fun() -> file:write_file_info(F, t:id({file_info, a})) end)),
    t:p(t:c(fun() -> file:write_file_info(F, #file_info{mode = t:id(x)}) end)),
    t:p(t:c(fun() -> file:change_owner(F, I#file_info.uid) end)),
    t:p(t:c(fun() -> file:change_owner(F, I#file_info.uid, I#file_info.gid) end)),
    t:p(t:c(fun() -> file:change_group(F, I#file_info.gid) end)),
    t:p(t:c(fun() -> file:change_group(F, t:id(x)) end)),
    t:p(t:c(fun() -> file:change_owner(F ++ "none", I#file_info.uid) end)),
    t:p([I0#file_info.type || X <- ["/dev/null", "/dev", "/proc/self/exe"], {ok, I0} <- [file:read_link_info(X)]]),
    t:p([I0#file_info.access || X <- ["/dev/null"], {ok, I0} <- [file:read_file_info(X)]]).
