%% Functions of os with what is none.
-module(mx_os).
-export([main/0]).
main() ->
    m:fs(os, [getenv, unsetenv], [["KVIK_NONE", "a=b", "", a, 1, "é", [0]]]), m:f(os, getenv, [["KVIK_NONE", a], [default, "d"]]), m:f(os, putenv, [["KVIK_T", "", "a=b", a, [0]], ["v", "", a, "é", [0]]]), t:p(os:getenv("KVIK_T")), m:f(os, find_executable, [["nope_xx", "", a, "sh/"]]), m:f(os, set_signal, [[sigusr2, sigkill, bad, 1], [default, ignore, bad]]),
    m:f(os, cmd, [["exit 3", "echo é", "printf 'a\\nb'", "echo err 1>&2", a, "", "nope_zz_ 2>/dev/null", ["echo ", <<"x">>]]]), m:f(os, cmd, [["echo abcdefgh"], [#{max_size => 3}, #{max_size => infinity}, #{}, #{max_size => -1}, #{bad => 1}, a]]), m:fs(os, [cmd], [[[0], "a\0b", [$e, 300]]]).
