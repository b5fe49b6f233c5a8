%% spawn_opt with monitor and its options.
-module(sig_spawn_monitor_opts).
-export([main/0]).
main() ->
    {P, R} = spawn_opt(fun() -> exit(a) end, [monitor]), receive {'DOWN', R, process, P, W} -> t:p(W) end,
    {P2, R2} = spawn_opt(fun() -> exit(b) end, [{monitor, [{tag, t}]}]), receive {t, R2, process, P2, W2} -> t:p(W2) end,
    {P3, R3} = spawn_opt(fun() -> receive {A, x} -> A ! reply end end, [{monitor, [{alias, reply_demonitor}]}]), P3 ! {R3, x}, receive reply -> ok end, timer:sleep(5), t:p(t:flush()),
    process_flag(trap_exit, true), {P4, R4} = spawn_opt(erlang, exit, [c], [link, monitor, {priority, low}, {min_heap_size, 5000}]), receive {'EXIT', P4, W4} -> t:p(W4) end, receive {'DOWN', R4, _, _, W5} -> t:p(W5) end,
    P6 = spawn_opt(fun() -> receive stop -> ok end end, [{priority, high}, {fullsweep_after, 3}, {message_queue_data, off_heap}, {max_heap_size, #{size => 100000, kill => false, error_logger => false}}]), t:p(process_info(P6, [priority, message_queue_data])), t:p(lists:keyfind(fullsweep_after, 1, element(2, process_info(P6, garbage_collection)))), t:p(maps:without([include_shared_binaries], element(2, lists:keyfind(max_heap_size, 1, element(2, process_info(P6, garbage_collection)))))), P6 ! stop.
