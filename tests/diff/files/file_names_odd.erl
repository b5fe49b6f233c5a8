%% File names: beyond ASCII, not valid in the encoding, deep lists, atoms;
%% directories that hold them, wildcards, path functions.
-module(file_names_odd).
-export([main/0]).

main() ->
    D = t:tmp("file_names"),
    Names = ["plain", "åäö", [16#65E5, 16#672C], "e" ++ [16#301], "sp ace", "new\nline", "q'uote\"", "-dash", "*star", "[brackets]", "{a,b}", "dot.", ".hidden",
             <<"binary">>, <<"b", 246>>, <<255, 254>>, <<"å"/utf8>>, 'atom', 'atöm', ["deep", ["er", $x], []], lists:duplicate(200, $n)],
    [t:p({N, t:c(fun() -> file:write_file(filename:join(D, N), "in") end), t:c(fun() -> file:read_file(filename:join(D, N)) end),
          t:c(fun() -> filelib:file_size(filename:join(D, N)) end)}) || N <- Names],
    t:p(sorted(file:list_dir(D))),
    t:p(sorted(file:list_dir_all(D))),
    t:p(sorted(prim_file:list_dir(D))),
    t:p(sorted(file:list_dir(list_to_binary(D)))),
    [t:p({W, t:c(fun() -> lists:sort(filelib:wildcard(W, D)) end)}) || W <- ["*", "*.*", ".*", "[a-e]*", "{plain,binary}", "p?ain", "\\*star", "**", "*/*", "å*", "nope", ""]],
    [t:p({N, t:c(fun() -> file:rename(filename:join(D, N), filename:join(D, "moved")) end),
          t:c(fun() -> file:rename(filename:join(D, "moved"), filename:join(D, N)) end)}) || N <- Names],
    t:p({too_long, t:c(fun() -> file:write_file(filename:join(D, lists:duplicate(300, $n)), "") end)}),
    t:p({far_too_long, t:c(fun() -> file:write_file(filename:join([D | lists:duplicate(3000, "nn")]), "") end)}),
    loops(D),
    cwd(D, Names),
    natives(),
    [t:p({F, N, t:c(fun() -> apply(file, F, [t:id(N) | more(F)]) end)})
     || F <- [read_file, write_file, delete, make_dir, list_dir, read_file_info, open, rename, make_symlink, consult, del_dir, set_cwd],
        N <- ["a\0b", <<"a\0b">>, [0], [-1], [16#110000], [16#D800], {x}, 1.5, [{}], <<1:3>>]],
    file:del_dir_r(D),
    t:p(file:read_file_info(D)).

more(write_file) -> ["x"];
more(open) -> [[read]];
more(F) when F =:= rename; F =:= make_symlink -> ["other"];
more(_) -> [].

sorted({ok, L}) -> {ok, lists:sort(L)};
sorted(E) -> E.

loops(D) ->
    file:make_symlink("loop2", filename:join(D, "loop1")),
    file:make_symlink("loop1", filename:join(D, "loop2")),
    t:p([t:c(fun() -> file:read_file(filename:join(D, "loop1")) end), t:c(fun() -> file:list_dir(filename:join(D, "loop1")) end),
         file:read_link(filename:join(D, "loop1")), filelib:is_file(filename:join(D, "loop1"))]),
    [file:delete(filename:join(D, L)) || L <- ["loop1", "loop2"]].

cwd(D, _) ->
    {ok, Old} = file:get_cwd(),
    [begin
         Dir = filename:join(D, N),
         t:p({cwd, N, t:c(fun() -> file:make_dir(Dir) end), t:c(fun() -> file:set_cwd(Dir) end),
              t:c(fun() -> {ok, C} = file:get_cwd(), filename:basename(C) end), t:c(fun() -> file:write_file("here", "x") end),
              t:c(fun() -> element(1, file:list_dir(".")) end)}),
         file:set_cwd(Old),
         file:del_dir_r(Dir)
     end || N <- ["dir", "dör", [16#65E5], <<"raw", 246>>]],
    t:p([t:c(fun() -> file:set_cwd(t:id(X)) end) || X <- ["/no/such", "", a, "/dev/null", {x}]]),
    t:p([t:c(fun() -> file:get_cwd(t:id(X)) end) || X <- ["c:", "/", a, ""]]),
    file:make_dir(filename:join(D, "gone")),
    file:set_cwd(filename:join(D, "gone")),
    file:del_dir(filename:join(D, "gone")),
    t:p({gone, t:c(fun() -> file:get_cwd() end), t:c(fun() -> file:write_file("x", "y") end), t:c(fun() -> element(1, file:list_dir(".")) end)}),
    file:set_cwd(Old).

natives() ->
    t:p([file:native_name_encoding(), filename:absname("a"), filename:absname("/a/../b")] -- [filename:absname("a")]),
    t:p([t:c(fun() -> prim_file:internal_name2native(t:id(X)) end) || X <- ["a", "ö", <<"ö">>, a, [a], "a\0", [16#D800]]]),
    t:p([t:c(fun() -> prim_file:internal_native2name(t:id(X)) end) || X <- [<<"a">>, <<"ö"/utf8>>, <<246>>, a, "a"]]),
    t:p([t:c(fun() -> prim_file:internal_normalize_utf8(t:id(X)) end) || X <- [<<"a">>, <<"ö"/utf8>>, <<"e", 16#301/utf8>>, <<246>>, a]]),
    t:p([t:c(fun() -> prim_file:is_translatable(t:id(X)) end) || X <- [<<"a">>, <<"ö"/utf8>>, <<246>>]]),
    t:p([filename:join(["a", <<"b">>, "c"]), filename:join("a", "/b"), filename:split("/a//b/"), filename:basename(<<"x/y.erl">>, <<".erl">>),
         filename:dirname("/a"), filename:extension("a.b.c"), filename:rootname("a/b.c"), filename:flatten(["a", [b], "c"]), filename:nativename("a/b"),
         filename:pathtype("/a"), filename:pathtype("a")]).
