%% Priorities say what runs first on one scheduler.
-module(sig_priorities).
-export([main/0]).
main() ->
    t:p(process_flag(priority, high)), t:p(process_flag(priority, max)), t:p(process_flag(priority, normal)), t:p(catch process_flag(priority, bad)),
    P = spawn_opt(fun() -> receive stop -> ok end end, [{priority, low}]), t:p(process_info(P, priority)), P ! stop, t:p([element(2, process_info(whereis(X), priority)) || X <- [init, logger, kernel_sup, code_server]]).
