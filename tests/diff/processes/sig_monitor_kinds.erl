%% Monitors by pid, name and name with node, of the living, dead and absent.
-module(sig_monitor_kinds).
-export([main/0]).
main() ->
    P = spawn(fun L() -> receive stop -> exit(gone); _ -> L() end end), register(mk_name, P),
    Rs = [monitor(process, X) || X <- [P, mk_name, {mk_name, node()}, nobody, {nobody, node()}]],
    t:p(length(element(2, process_info(P, monitored_by)))),
    P ! stop, [receive {'DOWN', R, T, O, W} -> t:p({T, O, W}) end || R <- Rs],
    [begin R = monitor(process, X), receive {'DOWN', R, T, O, W} -> t:p({T, O, W}) end end || X <- [P, mk_name, {mk_name, node()}]],
    t:p(monitor(process, self()) =/= x), t:p(process_info(self(), monitors)), t:p(catch monitor(process, {a, 'b@nohost'})), timer:sleep(20), t:p([setelement(4, D, x) || D <- t:flush()]).
