%% Every BIF of the emulator with unfit arguments of one kind: the class and reason, and what the
%% error says of each argument, with the kinds of arguments that give it.
-module(bif_error_texts).
-export([main/0]).

main() ->
    [shown(M, F, N)
     || M <- [erlang, lists, maps, binary, ets, atomics, counters, persistent_term, unicode, math, re, os, string,
              erts_internal, erts_debug, code, file, error_logger, io, net_kernel, prim_file],
        {F, N} <- functions(M),
        N =< 5,
        erlang:is_builtin(M, F, N),
        not left_out(M, F, N)].

shown(M, F, N) ->
    Answers = [{call(M, F, N, Value), Kind} || {Kind, Value} <- values(N)],
    Same = maps:groups_from_list(fun({A, _}) -> A end, fun({_, Kind}) -> Kind end, Answers),
    Lines = [io_lib:format("  ~w ~0tp~n", [Kinds, A]) || {A, Kinds} <- lists:sort(maps:to_list(Same)), A =/= fits],
    Lines =:= [] orelse io:format("~w:~w/~w~n~ts", [M, F, N, Lines]).

functions(M) -> lists:sort(M:module_info(exports)).

values(0) -> [{none, none}];
values(_) ->
    [{atom, x}, {float, 1.5}, {neg, -1}, {big, 1 bsl 70}, {improper, [a | b]}, {list, [a]}, {tuple, {}}, {map, #{}},
     {bits, <<1:3>>}, {text, "text"}, {pairs, [{k, v}]}].

call(M, F, N, Value) ->
    Args = lists:duplicate(N, Value),
    {Pid, Ref} = spawn_monitor(fun() -> exit({answer, answer(M, F, Args)}) end),
    receive
        {'DOWN', Ref, process, Pid, {answer, X}} -> X;
        {'DOWN', Ref, process, Pid, Reason} -> {died, t:plain(Reason)}
    end.

answer(M, F, Args) ->
    try apply(M, F, Args) of
        _ -> fits
    catch
        Class:Reason:Stack ->
            [{_, _, _, Info} | _] = Stack,
            Text = case lists:keyfind(error_info, 1, Info) of
                       {error_info, Map} ->
                           Module = maps:get(module, Map, M),
                           try Module:format_error(Reason, Stack) catch _:_ -> no_text end;
                       false -> none
                   end,
            {Class, t:plain(Reason), where(Stack, M, F, length(Args)), Text}
    end.

%% Whether it is an error of that function, and the arguments are shown.
where([{M, F, A, _} | _], M, F, N) when length(A) =:= N -> args;
where([{M, F, A, _} | _], _, _, _) when is_list(A) -> {M, F, length(A)};
where([{M, F, A, _} | _], _, _, _) -> {M, F, A, no_args}.

%% What waits, ends the machine, or differs from run to run.
left_out(erlang, F, _) ->
    lists:member(F, [halt, hibernate, processes, ports, system_flag, trace, trace_pattern, trace_info, trace_delivered, display,
                     system_info, open_port, nodes, erase, yield, garbage_collect, memory, statistics, get_cookie,
                     setnode, set_cookie, monitor_node, disconnect_node, spawn_request, spawn_opt, load_nif,
                     call_on_load_function, finish_after_on_load, module_loaded, process_display, exit, throw, error,
                     raise, nif_error, fun_info, dist_ctrl_get_data, dist_ctrl_get_data_notification, delete_module,
                     purge_module, check_old_code, group_leader, put, system_profile, system_monitor, seq_trace_info,
                     seq_trace, seq_trace_print, display_string, send, '!', spawn, spawn_link, apply, bump_reductions,
                     universaltime_to_localtime, localtime_to_universaltime, make_fun, phash, phash2, get, loaded,
                     debug_info, adler32, trace_session_create,
                     %% Native records are not there; a list that is no iodata fails in a function of
                     %% OTP's own since 27.
                     is_record, iolist_to_iovec]);
left_out(erts_internal, F, _) ->
    not lists:member(F, [cmp_term, map_next, map_hashmap_children, binary_to_integer, list_to_integer, ets_lookup_binary_info,
                         ets_info_binary, processes_next, map_to_tuple_keys, term_type, is_process_alive, garbage_collect]);
left_out(erts_debug, F, _) -> not lists:member(F, [flat_size, size_shared, copy_shared, same, unaligned_bitstring]);
left_out(ets, F, _) -> lists:member(F, [new, all, internal_request_all, internal_delete_all]);
left_out(os, F, _) -> lists:member(F, [set_signal, putenv, unsetenv, env, system_time, timestamp, perf_counter, getpid]);
left_out(code, F, _) -> lists:member(F, [get_coverage, coverage_support, get_coverage_mode, set_coverage_mode, reset_coverage, get_debug_info]);
left_out(re, F, _) -> lists:member(F, [version, internal_run, run, compile, inspect, import]);
left_out(file, F, _) -> F =:= native_name_encoding;
left_out(prim_file, _, _) -> true;
left_out(error_logger, _, _) -> true;
left_out(_, _, _) -> false.
