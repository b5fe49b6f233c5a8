%% spawn in all its forms with what cannot be spawned.
-module(mx_spawn_bad).
-export([main/0]).
main() ->
    process_flag(trap_exit, true),
    m:fs(erlang, [spawn, spawn_link, spawn_monitor], [[a, 1, fun(_) -> ok end, {m, f}]]), m:fs(erlang, [spawn, spawn_link, spawn_monitor], [[a, 1], [b, "b"], [[x | y], x]]),
    Os = [[link], [monitor], [{priority, high}], [{priority, bad}], [{fullsweep_after, -1}], [{min_heap_size, a}], [{max_heap_size, a}], [{message_queue_data, bad}], [bad], bad, [link | x], [{monitor, [{alias, demonitor}]}], [{monitor, [{tag, t}]}], [{monitor, bad}], [{scheduler, 1}]],
    m:f(erlang, spawn_opt, [[fun() -> ok end, a, fun(_) -> ok end], Os]), m:f(erlang, spawn_opt, [[erlang, 1], [self], [[]], Os]), m:f(erlang, spawn_request, [[fun() -> ok end, a], Os ++ [[{reply, yes}], [{reply, no}], [{reply, bad}], [{reply_tag, x}]]]),
    m:f(erlang, spawn_request, [[erlang], [self], [[], a], [[], [bad]]]), m:f(erlang, hibernate, [[1, a], [b, 1], [x]]), m:f(erlang, apply, [[1, a, lists, {a, b}], [b, 1, reverse], [[], x, [[1, 2]]]]).
