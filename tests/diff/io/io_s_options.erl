%% ~s and ~ts with strings, binaries, deep lists, atoms, and what is none.
-module(io_s_options).
-export([main/0]).
main() ->
    Ts = [a, 'é', "abc", "é", "漢", <<"bin">>, <<"é"/utf8>>, <<255>>, [$a, "b", <<"c">>], ["x" | <<"y">>], [], 1, {a}, [a], [-1], [16#110000], <<1:3>>], Fs = ["~s", "~ts", "~10s|", "~-10s|", "~10ts|", "~.2s", "~10.2s|", "~-10.2ts|", "~10.3.*s", "~3s"],
    [t:p({F, X}, t:c(fun() -> lists:flatten(io_lib:format(F, [X])) end)) || F <- Fs, X <- Ts].
