%% The causes of errors (`error_info`) where one of several arguments, or a list of options, is wrong, and
%% the texts that the shell prints from them.
-module(error_causes).
-export([main/0]).

main() ->
    Self = self(),
    Bad = [foo, [a | b], [foo], [{foo, 1}], [{}], 1, [[]]],
    Gone = list_to_pid("<0.9999.0>"),
    [call(F, A)
     || {F, All} <-
            [{halt, [[1, O] || O <- Bad ++ [[{flush, true} | x], [{flush, 1}]]] ++ [[S, []] || S <- [x, [a], -1, 1.0]] ++ [[x], [foo, foo]]},
             {monitor, [[process, Self, O] || O <- Bad ++ [[{alias, x}], [{alias, demonitor} | x]]] ++ [[foo, Self], [foo, Self, [x]], [port, 1]]},
             {demonitor, [[make_ref(), O] || O <- Bad ++ [[flush | x]]] ++ [[1, foo]]},
             {send, [[Self, x, O] || O <- Bad ++ [[noconnect | x]]] ++ [[1, x, []]]},
             {spawn_opt, [[lists, seq, [1, 2], O] || O <- Bad ++ [[link | x], [{priority, x}]]]},
             {process_flag,
              [[F, V] || {F, V} <- [{foo, x}, {1, x}, {save_calls, x}, {save_calls, -1}, {save_calls, 10001}, {trap_exit, x}, {priority, x},
                                    {async_dist, x}, {min_heap_size, -1}, {max_heap_size, #{size => x}}, {message_queue_data, x},
                                    {error_handler, 1}, {sensitive, x}, {{monitor_nodes, x}, true}, {{save_calls, x}, true}]]
              ++ [[Self, save_calls, x], [Self, foo, 1], [1, save_calls, 1], [Gone, save_calls, 0]]},
             {start_timer, [[1, Self, x, O] || O <- Bad] ++ [[x, Self, y], [-1, Self, y, foo], [1, 1, x, foo]]},
             {cancel_timer, [[make_ref(), O] || O <- Bad ++ [[{async, false} | x]]] ++ [[1, foo]]},
             {binary_to_term, [[term_to_binary(x), O] || O <- Bad ++ [[safe | x]]] ++ [[x, foo]]},
             {term_to_binary, [[x, O] || O <- Bad ++ [[compressed | x]]]},
             {decode_packet, [[raw, <<"x">>, O] || O <- Bad] ++ [[foo, <<"x">>, []], [1, 1, foo]]},
             {trace_pattern,
              [[M, true, []] || M <- [{a, b, c}, foo, {'_', b, 1}, 1, {a, b}, [], {a, '_', 1}, {a, b, -1}]]
              ++ [[{a, b, 1}, P, O] || {P, O} <- [{foo, []}, {true, [foo]}, {true, [local | x]}, {[x], []}, {true, [global, local]},
                                                 {[], [call_count]}, {true, [{meta, x}]}, {foo, [bad]}, {[x], [call_count]}]]
              ++ [[E, P, O] || E <- [send, 'receive'], {P, O} <- [{foo, []}, {[x], []}, {true, [local]}, {x, [x]}]]
              ++ [[{a, b, c}, true], [on_load, foo, []]]},
             {trace, [[Self, true, O] || O <- Bad] ++ [[foo, true, []], [1, true, []], [Self, foo, [x]], [Gone, true, [call]]]},
             {trace_info, [[W, I] || {W, I} <- [{foo, bar}, {1, flags}, {Self, foo}, {{lists, seq, 2}, foo}, {on_load, foo}, {send, foo},
                                                {'receive', 1}, {{a, b}, all}, {{a, b, c}, all}, {new, foo}, {"x", all}, {#{}, flags}]]},
             {system_monitor, [[Self, O] || O <- Bad] ++ [[x], [x, []], [{x, y}], [undefined, x], [undefined, [x]]]},
             {system_flag, [[foo, x], [1, x], [backtrace_depth, x], [schedulers_online, 0], [system_logger, 1]]},
             {nodes, [[foo], [[foo]], [[hidden | x]], [visible, #{x => y}], [visible, x]]}],
        A <- All].

call(F, A) ->
    Text = io_lib:format("~0p ~0p: ~0p~n", [F, A, result(F, A)]),
    io:put_chars(re:replace(Text, "<0\\.\\d+\\.0>|#Ref<[0-9.]*>", "_", [global, {return, list}])).

result(F, A) ->
    Self = self(),
    {_, M} = spawn_monitor(fun() -> Self ! {got, try apply(erlang, F, A) of _ -> ok catch C:R:S -> {C, R, described(R, S)} end} end),
    receive {'DOWN', M, _, _, _} -> ok end,
    receive {got, Got} -> Got after 0 -> none end.

described(R, [{M, F, _, I} | _] = Stack) ->
    Info = proplists:get_value(error_info, I, #{}),
    Texts = try (maps:get(module, Info)):format_error(R, Stack) catch _:_ -> #{} end,
    {M, F, maps:get(cause, Info, '-'), [{N, unicode:characters_to_list(T)} || {N, T} <- lists:sort(maps:to_list(Texts))]}.
