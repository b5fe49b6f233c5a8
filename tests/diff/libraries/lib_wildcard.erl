%% Wildcards over a tree: every notation, orders, links, hidden files, folds, ensure_dir.
-module(lib_wildcard).
-export([main/0]).
main() ->
    D = t:tmp("wc"), file:set_cwd(D),
    [begin ok = filelib:ensure_dir(F), ok = file:write_file(F, F) end || F <- ["a.erl", "b.erl", "b.hrl", ".hid", "d1/x.erl", "d1/d2/y.erl", "d1/d2/d3/z", "q[1]", "é.txt", "A.ERL", "f,g", "star*"]], ok = file:make_symlink("d1", "ln"), ok = file:make_symlink("nowhere", "dead"),
    [t:p(W, t:c(fun() -> lists:sort(filelib:wildcard(W)) end)) || W <- ["*", "*.erl", "?.erl", "[ab].*", "[a-b]*", "[!a]*", "{a,b}.erl", "{a.erl,b.hrl}", "d1/*", "*/*.erl", "**/*.erl", "**", "d1/**/z", "", ".", "..", "./*", "nope/*", "*\\**", "q\\[*", "q[[]*", "[", "{a,", "ln/*", "dead", "d1/d2/../*", "a.erl", "*{,x}", "[^a]*", "d?/d?"]],
    t:p(lists:sort(filelib:wildcard("*.erl", "d1"))),  t:pc(fun() -> filelib:wildcard(5) end),
    t:p(lists:sort(filelib:fold_files(".", "\\.erl$", true, fun(F, A) -> [F | A] end, []))),
    t:p(lists:sort(filelib:fold_files(".", "^[a-b]", false, fun(F, A) -> [F | A] end, []))),
    t:p([[filelib:F(X) || F <- [is_file, is_dir, is_regular, file_size]] || X <- ["a.erl", "d1", "ln", "dead", "none", <<"a.erl">>], X =/= "d1" andalso X =/= "ln"]),
    t:p([[filelib:F(X) || F <- [is_file, is_dir, is_regular]] || X <- ["d1", "ln"]]),
    t:p([filelib:ensure_dir(X) || X <- ["n1/n2/f", "a.erl/x/y", <<"n3/f">>]]),
    t:p(filelib:ensure_path("n4/n5")),
    t:p(filelib:last_modified("none")),
    t:p(filelib:find_file("x.erl", "d1")),
    t:p(filelib:find_file("none", "d1")),
    t:p(filelib:find_source("a.beam", ".") =/= x).
