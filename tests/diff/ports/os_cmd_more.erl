%% os:cmd with signals, output without end, input, environment, exit codes.
-module(os_cmd_more).
-export([main/0]).
main() ->
    [t:p(C, os:cmd(C)) || C <- ["echo a; echo b >&2", "printf ''", "printf 'x\\0y'", "cat", "exit 5", "echo $KVIK_UNSET_X", "printf '\\303\\251'", "printf '\\377'", "echo \"quo'ted\"", "true && echo yes || echo no", "head -c 100000 /dev/zero | wc -c | tr -d ' '", "echo a\necho b"]], os:putenv("KVIK_SET_X", "value ä"),
    t:p(os:cmd("echo $KVIK_SET_X")),
    t:p(os:getenv("KVIK_SET_X")),
    t:p(lists:keyfind("KVIK_SET_X", 1, os:env())),
    t:p(os:unsetenv("KVIK_SET_X")),
    t:p(os:getenv("KVIK_SET_X")),
    t:p(os:cmd("echo abc", #{max_size => 2})),
    t:p(os:type()),
    t:p(is_tuple(os:version())),
    t:pc(fun() -> os:cmd(["ec", [<<"ho">>, " "], "deep"]) end),
    t:p(os:cmd(["ec", ["ho", " "], "deep"])),
    t:p(os:cmd('echo atom')),
    t:p(length(os:getpid()) > 0),
    t:p(os:find_executable("sh") =/= false),
    t:p(os:find_executable("sh", "/nope")),
    t:p(t:flush()).
