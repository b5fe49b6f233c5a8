%% Names of files: joining, splitting, extensions, of lists, atoms and binaries, odd ones.
-module(lib_filename).
-export([main/0]).
main() ->
    Ns = ["", "a", "/", "//", "a/b", "/a/b.c", "a/b/", "a//b", ".", "..", ".hidden", "a.b.c", "a/.x", "a.", "~/x", "é/漢.x", <<"bin/x.y">>, <<>>, <<255>>, at, ['a/', "b"], ["x", <<"y">>], 1, {}, "a\0b", "c:/x"],
    m:fs(filename, [basename, dirname, extension, rootname, split, pathtype, nativename, flatten, join], [Ns]),
    m:fs(filename, [basename, rootname], [Ns, [".c", "", ".x", <<".y">>, a]]),
    m:f(filename, join, [Ns, ["", "a", "/abs", <<"b">>, x, "../.."]]),
    m:f(filename, join, [[["a", "b", "c"], ["/", "a"], [], ["a", <<"b">>], ["a", "", "b"], [a, b], ["a", "/b", "c"], x]]),
    m:f(filename, absname_join, [["/x", "y", <<"/z">>], ["a", "/b", "../c", <<"d">>]]),
    m:f(filename, absname, [["a", "/b", <<"c">>], ["/base", <<"/b2">>]]),
    m:fs(filelib, [safe_relative_path], [["a", "../a", "a/../b", "/a", "", ".", "a/..", "a/../.."], [[]]]),
    m:f(filename, validate, [["ok", "a\0b", <<"x">>, <<255>>, [256]]]),
    t:p([filename:append(A, B) || {A, B} <- [{"a", "b"}, {"a/", "b"}, {<<"a">>, "b"}, {"", "b"}]]).
