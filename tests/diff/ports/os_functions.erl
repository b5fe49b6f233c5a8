%% os: cmd, getenv, environment, find_executable, type.
-module(os_functions).
-export([main/0]).
main() ->
    t:p(os:cmd("echo hello")), t:p(os:cmd("printf 'a\\nb'; exit 3")), t:p(os:cmd("echo err 1>&2")), t:p(os:cmd("cat < /dev/null")), t:p(os:cmd("printf 'é'")), t:p(os:getenv("NO_SUCH_VARIABLE")), t:p(os:getenv("NO_SUCH_VARIABLE", "def")), t:p(os:putenv("KVIK_T", "v1")), t:p(os:getenv("KVIK_T")), t:p(os:cmd("echo $KVIK_T")), t:p(os:unsetenv("KVIK_T")), t:p(os:getenv("KVIK_T")), t:p(os:type()), t:p(is_list(os:getpid())), t:p(os:find_executable("sh") =/= false), t:p(os:find_executable("no-such-program-here")), t:p(tuple_size(os:version())), t:pc(fun() -> os:cmd(t:id(1)) end), t:pc(fun() -> os:putenv("a=b", "c") end), t:pc(fun() -> os:getenv(t:id(x)) end), t:p(length(os:cmd("head -c 200000 /dev/zero | tr '\\0' x"))), t:p(length(os:cmd("seq 1 1000"))), t:p(is_list(os:env())).
