%% Natives on processes with what is no process.
-module(mx_process_bad).
-export([main/0]).
main() ->
    Dead = spawn(fun() -> ok end), R = monitor(process, Dead), receive {'DOWN', R, _, _, _} -> ok end,
    Ps = [self(), Dead, nobody, a, 1, {nobody, node()}, {a, b}, make_ref(), "x", {}, c:pid(0, 30000, 0)],
    m:fs(erlang, [is_process_alive, process_info, unlink, suspend_process, resume_process, garbage_collect, whereis, exit_signal], [Ps -- [self()]]),
    m:f(erlang, monitor, [[process, port, time_offset, bad], Ps]), m:f(erlang, monitor, [[process], Ps, [[], [{alias, demonitor}], [{alias, bad}], [{tag, x}], [bad], bad]]),
    m:f(erlang, demonitor, [[a, 1, make_ref(), self()], [[], [flush], [info], [flush, info], [bad], bad]]), m:f(erlang, exit, [Ps -- [self(), a], [x]]),
    m:f(erlang, send, [Ps, [hello]]), m:f(erlang, send, [Ps, [hello], [[], [nosuspend], [noconnect], [bad], bad]]), m:f(erlang, group_leader, [Ps -- [self()], [a, Dead]]),
    m:f(erlang, register, [[a, undefined, "x", 1, init], [self(), Dead, a]]), m:f(erlang, unregister, [[a, undefined, "x", nobody]]), m:fs(erlang, [unalias, node, list_to_pid, list_to_ref, list_to_port], [Ps ++ ["<0.1.2>", "<0.1", "#Ref<0.1.1.3>", "#Port<0.1>", "<9.9.9>", "#Ref<0.1>"]]), t:p(length(t:flush())).
