%% Zip and tar in memory: create, list, extract, compressed, names, broken ones.
-module(lib_archives).
-export([main/0]).
main() ->
    D = t:tmp("arch"), file:set_cwd(D), ok = file:write_file("a.txt", "hello"), ok = file:make_dir("d"), ok = file:write_file("d/b", binary:copy(<<"x">>, 5000)),
    {ok, {"z.zip", Z}} = zip:create("z.zip", [{"one", <<"1">>}, {"dir/two", binary:copy(<<"ab">>, 999)}, {"a.txt", <<"hello">>}], [memory]), {ok, L} = zip:list_dir(Z),
    t:p([{element(1, E), element(2, E)} || E <- L, element(1, E) =:= zip_file]), {ok, U} = zip:unzip(Z, [memory]),
    t:p([{N, byte_size(B), erlang:md5(B)} || {N, B} <- U]),
    t:p([element(1, zip:unzip(X, [memory])) || X <- [<<>>, <<"junk">>, binary:part(Z, 0, byte_size(Z) - 5)]]), {ok, H} = zip:zip_open(Z, [memory]),
    t:p(zip:zip_get("one", H)),
    t:p(zip:zip_get("none", H)), zip:zip_close(H),
    t:p(zip:unzip(Z, [{file_list, ["one"]}, memory])),
    t:p(zip:extract(Z, [{cwd, "out"}, {file_filter, fun(F) -> element(2, F) =:= "dir/two" end}])),
    t:p(filelib:file_size("out/dir/two")),
    t:p(zip:foldl(fun(N, _, G, A) -> [{N, byte_size(G())} | A] end, [], "nope.zip")),
    ok = erl_tar:create("t.tar", ["a.txt", "d", {"mem", <<"in memory">>}]),
    t:p(erl_tar:table("t.tar")), {ok, T} = erl_tar:extract("t.tar", [memory]),
    t:p([{N, byte_size(B)} || {N, B} <- T]), ok = erl_tar:create("t.tgz", ["d/b"], [compressed]),
    t:p(erl_tar:table("t.tgz", [compressed])),
    t:p(erl_tar:extract("t.tgz", [compressed, {cwd, "o2"}])),
    t:p(file:read_file("o2/d/b") =:= file:read_file("d/b")),
    t:p([erl_tar:table(X) || X <- ["none", "a.txt", {binary, <<>>}, {binary, <<1, 2, 3>>}]]),
    t:p([lists:flatten(erl_tar:format_error(E)) || {error, E} <- [erl_tar:table("none"), erl_tar:table("a.txt")]]), {ok, W} = erl_tar:open("u.tar", [write]),
    t:p([erl_tar:add(W, <<"bin">>, "n1", []), erl_tar:add(W, "a.txt", "renamed", []), erl_tar:add(W, "nofile", [])]), erl_tar:close(W),
    t:p(erl_tar:extract("u.tar", [memory, {files, ["renamed"]}])), Long = lists:duplicate(150, $n), ok = erl_tar:create("l.tar", [{Long, <<"long">>}, {"é漢", <<"u">>}]),
    t:p(erl_tar:extract("l.tar", [memory])),
    t:p(erl_tar:extract({binary, <<0:10240/unit:8>>}, [memory])).
