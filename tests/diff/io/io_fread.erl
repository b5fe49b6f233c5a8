%% io_lib:fread with every control.
-module(io_fread).
-export([main/0]).
main() ->
    [t:p({F, S}, t:c(fun() -> io_lib:fread(F, S) end)) || {F, S} <- [{"~d", "12 x"}, {"~d", "-12"}, {"~d", "+3"}, {"~d", "x"}, {"~d", ""}, {"~2d", "123"}, {"~u", "12"}, {"~u", "-1"}, {"~-", "+ 1"}, {"~#", "16#ff"}, {"~16u", "ff"}, {"~.16u", "ffx"}, {"~.2u", "1012"}, {"~f", "1.5e3x"}, {"~f", "1"}, {"~s", "  abc def"}, {"~3s", "abcdef"}, {"~ts", "é漢 x"}, {"~a", "abc d"}, {"~ta", "é"}, {"~c", "abc"}, {"~3c", "abcd"}, {"~3c", "a"}, {"~l", "abc"}, {"~d ~d", "1 2"}, {"~d,~d", "1,2"}, {"~d,~d", "1;2"}, {"~*d ~d", "1 2"}, {"a~db", "a5b"}, {"~~", "~"}, {"~d~n", "5\n"}, {"~z", "x"}, {"~", ""}, {"  ~d", "7"}]],
    t:p(io_lib:fread([], "1 ", "~d ~d")), {more, C} = io_lib:fread([], "1 ", "~d ~d"), t:p(io_lib:fread(C, "2\nrest", "~d ~d")), t:p(io_lib:fread(C, eof, "~d ~d")).
