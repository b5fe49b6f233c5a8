%% spawn_opt, spawn_monitor, spawn_request: options, their effects and refusals.
-module(spawn_options).
-export([main/0, f/1]).
main() ->
    process_flag(trap_exit, true),
    {P, R} = spawn_opt(?MODULE, f, [self()], [monitor, link, {priority, high}, {min_heap_size, 5000}, {min_bin_vheap_size, 1000}, {fullsweep_after, 7}, {max_heap_size, #{size => 1000000, kill => false, error_logger => false}}, {message_queue_data, off_heap}]),
    P ! {info, [priority, fullsweep_after, message_queue_data, links, trap_exit, group_leader]}, t:p(receive {P, I} -> [X || X <- I, element(1, X) =/= group_leader] end), t:p(element(2, process_info(P, group_leader)) =:= group_leader()),
    {garbage_collection, G} = process_info(P, garbage_collection), t:p([K || K <- G, lists:member(element(1, K), [fullsweep_after, max_heap_size])]), t:p(proplists:get_value(min_heap_size, G) >= 5000),
    P ! stop, t:p([receive {'DOWN', R, process, P, W} -> W end, receive {'EXIT', P, W1} -> W1 end]),
    [t:p(O, t:c(fun() -> spawn_opt(fun() -> ok end, O) end)) || O <- [[bad], [{priority, x}], [{priority, low} | a], a, [{min_heap_size, -1}], [{fullsweep_after, a}], [{max_heap_size, -1}], [{max_heap_size, #{}}], [{message_queue_data, x}], [{monitor, []}], [{monitor, [bad]}], [{monitor, [{tag, t}]}], [{min_heap_size, 1 bsl 80}]]],
    timer:sleep(20), t:p(lists:sort(t:flush())),
    Rq = spawn_request(fun() -> exit(done) end, [monitor]), Pid = receive {spawn_reply, Rq, ok, Pid0} -> Pid0 end, t:p(is_pid(Pid)), t:p(receive {'DOWN', Rq, process, Pid, W2} -> W2 end),
    R2 = spawn_request(?MODULE, f, [self()], [{reply_tag, my_tag}, link]), P2 = receive {my_tag, R2, ok, P20} -> P20 end, P2 ! stop, t:p(receive {'EXIT', P2, W3} -> W3 end),
    spawn_request(fun() -> exit(quiet) end, [{reply, no}, link]), t:p(receive {'EXIT', _, W4} -> W4 end), R5 = spawn_request(fun() -> ok end, [bad_option]), t:p(receive {spawn_reply, R5, Tag, Val} -> {Tag, Val} end), t:p(t:c(fun() -> spawn_request(a, b) end)),
    R6 = spawn_request(fun() -> ok end), t:p(spawn_request_abandon(R6)), t:p(spawn_request_abandon(make_ref())), t:p(t:c(fun() -> spawn_request_abandon(x) end)), timer:sleep(10), t:flush(),
    {P7, R7} = spawn_monitor(?MODULE, f, [self()]), t:p(demonitor(R7, [info])), t:p(demonitor(R7, [info])), P7 ! stop, t:p(receive {'DOWN', R7, _, _, _} -> down after 20 -> none end),
    {P8, R8} = spawn_opt(fun() -> receive stop -> exit(tagged) end end, [{monitor, [{tag, {mine, 1}}]}]), P8 ! stop, t:p(receive {{mine, 1}, R8, process, P8, W8} -> W8 end),
    {P9, R9} = spawn_opt(fun() -> receive {al, A} -> A ! {al, hello}, A ! {al, twice} end end, [{monitor, [{alias, reply_demonitor}]}]), P9 ! {al, R9}, t:p(receive {al, M} -> M end), t:p(t:flush()),
    t:p([t:c(fun() -> apply(erlang, F, As) end) || {F, As} <- [{spawn, [a]}, {spawn, [1, f, []]}, {spawn, [m, f, x]}, {spawn, [m, f, [1 | 2]]}, {spawn_link, [fun(_) -> ok end]}, {spawn_opt, [m, f, [], x]}, {spawn_monitor, [{a}]}]]),
    timer:sleep(20), t:p(lists:sort(t:flush())), Parent = self(), spawn(fun() -> Parent ! {parent, element(2, process_info(self(), parent)) =:= Parent} end), t:p(receive {parent, B} -> B end).
f(To) -> receive stop -> exit(stopped); {info, Is} -> To ! {self(), [process_info(self(), I) || I <- Is, I =/= links]}, f(To) end.
