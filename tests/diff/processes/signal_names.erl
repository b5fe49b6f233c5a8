%% The signals that programs may set, and those they may not.
-module(signal_names).
-export([main/0]).

main() ->
    Names = [sighup, sigquit, sigabrt, sigalrm, sigterm, sigusr1, sigusr2, sigchld, sigstop, sigtstp,
             sigint, sigcont, sigwinch, sigkill, sigpipe, none, 15, "sigterm"],
    [t:p({N, t:c(fun() -> os:set_signal(N, default) end)}) || N <- Names],
    [t:p({A, t:c(fun() -> os:set_signal(sigusr2, A) end)}) || A <- [ignore, handle, default, other, 1]],
    t:p(erlang:system_info(break_ignored)).
