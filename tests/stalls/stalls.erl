%% How long BIFs whose cost grows with their argument keep a process of priority `max` from running.
%%
%% Each case takes about 100 ms. While it runs, a process of priority `max` wakes up every
%% millisecond. Time is the VM's processor time: what other programs do on the machine does not count.
%% The caller's heap is large, so that a case measures the BIF and not the garbage collector.
-module(stalls).
-export([main/1]).

%% main([LimitMs | Cases]): a case fails if the process ran less often than every LimitMs on average, or did
%% not once for three times as long.
main([Limit | Names]) ->
    Run = [C || {Name, _, _} = C <- cases(), Names =:= [] orelse lists:member(atom_to_list(Name), Names)],
    [report(C, list_to_integer(Limit)) || C <- Run],
    halt().

report({Name, {yields, Own}, Setup}, Limit) -> report({Name, yields, Setup}, min(Own, Limit));
report({Name, Kind, Setup}, Limit) ->
    {Cpu, Ticks, Stall} = measure(Setup),
    Verdict = case Kind of
                  whole -> "whole";
                  _ when Ticks * Limit < Cpu - Limit -> "STALLS";
                  yields when Stall > 3 * Limit -> "STALLS";
                  _ -> "ok"
              end,
    io:format("~-24s ~5w ms ~5w ticks ~5w ms longest  ~s~n", [Name, Cpu, Ticks, Stall, Verdict]).

%% Milliseconds of processor time, how often the ticking process ran, and the longest time it did not.
measure(Setup) ->
    Me = self(),
    Ticker = spawn_opt(fun() -> idle() end, [{priority, max}]),
    Caller = spawn_opt(fun() ->
        F = Setup(),
        Ticker ! {start, self()},
        receive started -> ok end,
        timer:sleep(5),
        From = cpu(),
        X = (catch F()),
        Cpu = cpu() - From,
        Ticker ! {stop, self()},
        receive {ticks, N, Stall} -> Me ! {self(), {Cpu, N, Stall}} end,
        receive never -> X end
    end, [{min_heap_size, 24_000_000}]),
    Result = receive {Caller, R} -> R end,
    Mon = monitor(process, Caller),
    exit(Caller, kill),
    receive {'DOWN', Mon, _, _, _} -> Result end.

idle() ->
    receive {start, From} -> From ! started, tick(0, cpu(), 0) end.
tick(N, Last, Longest) ->
    receive
        {stop, From} -> From ! {ticks, N, max(Longest, cpu() - Last)}
    after 1 ->
        Now = cpu(),
        tick(N + 1, Now, max(Longest, Now - Last))
    end.

%% In milliseconds. OTP's leaves out what the kernel does for it, as when it clears pages.
cpu() ->
    case erlang:function_exported(kvik, processor_time, 0) of
        true -> kvik:processor_time() div 1_000_000;
        false -> element(1, statistics(runtime))
    end.

%% {Name, yields | {yields, LimitMs} | on_average | whole, fun() -> fun() -> BIF call end end}
%% `{yields, LimitMs}`: a stricter limit than that of the others.
%% `on_average`: one of its turns is still too long; only how often the process ran is judged.
%% `whole`: OTP 25 does it in one go too; reported, not judged.
cases() ->
    lists_() ++ tuples() ++ results() ++ maps_() ++ binaries() ++ terms() ++ huge_terms() ++ numbers() ++ processes_() ++
        tables() ++ huge_objects() ++ one_key() ++ ports() ++ names() ++ others().

ints(N) -> lists:seq(1, N).
pairs(N) -> [{I, I} || I <- ints(N)].
bytes(N) -> binary:copy(<<"abcdefgh">>, N div 8).
%% A list of many empty lists, in little memory.
nils(N) -> lists:duplicate(100, lists:duplicate(N div 100, [])).

lists_() ->
    [{append, yields, fun() -> L = ints(4_000_000), fun() -> L ++ [a] end end},
     {subtract, yields, fun() -> L = ints(400_000), M = lists:reverse(L), fun() -> L -- M end end},
     {reverse, yields, fun() -> L = ints(6_000_000), fun() -> lists:reverse(L) end end},
     {member, yields, fun() -> L = ints(10_000_000), fun() -> lists:member(x, L), lists:member(y, L) end end},
     {keyfind, yields, fun() -> L = pairs(3_000_000), fun() -> [lists:keyfind(x, 1, L) || _ <- ints(4)] end end},
     {keymember, yields, fun() -> L = pairs(3_000_000), fun() -> [lists:keymember(x, 1, L) || _ <- ints(4)] end end},
     {keysearch, yields, fun() -> L = pairs(3_000_000), fun() -> [lists:keysearch(x, 1, L) || _ <- ints(4)] end end},
     {length, yields, fun() -> L = ints(10_000_000), fun() -> length(L) + length(tl(L)) end end}].

tuples() ->
    [{list_to_tuple, whole, fun() -> L = ints(4_000_000), fun() -> list_to_tuple(L) end end},
     {tuple_to_list, whole, fun() -> T = erlang:make_tuple(4_000_000, a), fun() -> tuple_to_list(T) end end},
     {make_tuple, whole, fun() -> fun() -> erlang:make_tuple(10_000_000, a) end end},
     {setelement, whole, fun() -> T = erlang:make_tuple(6_000_000, a), fun() -> setelement(1, T, b) end end},
     {append_element, whole, fun() -> T = erlang:make_tuple(6_000_000, a), fun() -> erlang:append_element(T, b) end end},
     {insert_element, whole, fun() -> T = erlang:make_tuple(6_000_000, a), fun() -> erlang:insert_element(2, T, b) end end},
     {delete_element, whole, fun() -> T = erlang:make_tuple(6_000_000, a), fun() -> erlang:delete_element(2, T) end end},
     {make_tuple_with, whole, fun() -> L = [{I, b} || I <- ints(3_000_000)],
                                       fun() -> erlang:make_tuple(3_000_000, a, L) end end}].

%% Results that fill the caller's heap: a collection follows.
results() ->
    [{reverse_collected, yields, in_small_heap(fun() -> ints(5_000_000) end, fun lists:reverse/1)},
     {from_list_collected, yields, in_small_heap(fun() -> pairs(1_000_000) end, fun maps:from_list/1)}].

in_small_heap(Make, F) ->
    fun() ->
        Me = self(),
        P = spawn_link(fun() ->
            L = Make(),
            erlang:garbage_collect(),
            Me ! ready,
            receive go -> ok end,
            X = F(L),
            Me ! {done, self()},
            receive stop -> [X | L] end
        end),
        receive ready -> ok end,
        fun() -> P ! go, receive {done, P} -> ok end end
    end.

maps_() ->
    [{maps_from_list, yields, fun() -> L = pairs(500_000), fun() -> maps:from_list(L) end end},
     {maps_from_keys, yields, fun() -> L = ints(500_000), fun() -> maps:from_keys(L, a) end end},
     {maps_keys, yields, fun() -> M = maps:from_list(pairs(1_000_000)), fun() -> maps:keys(M) end end},
     {maps_values, yields, fun() -> M = maps:from_list(pairs(1_000_000)), fun() -> maps:values(M) end end},
     {maps_to_list, yields, fun() -> M = maps:from_list(pairs(500_000)), fun() -> maps:to_list(M) end end},
     {maps_merge, yields, fun() -> A = maps:from_list(pairs(300_000)),
                                   B = maps:from_list([{-I, I} || I <- ints(300_000)]),
                                   fun() -> maps:merge(A, B) end end},
     {maps_merge_few, yields, fun() -> A = maps:from_list(pairs(1_000_000)),
                                       B = maps:from_list([{-I, I} || I <- ints(100_000)]),
                                       fun() -> maps:merge(A, B), maps:merge(B, A) end end}].

binaries() ->
    [{list_to_binary, yields, fun() -> L = lists:duplicate(10_000_000, $a), fun() -> list_to_binary(L) end end},
     {iolist_to_binary, yields, fun() -> L = lists:duplicate(1_500_000, [$a, [<<"xx">>]]),
                                         fun() -> iolist_to_binary(L) end end},
     {iolist_size, yields, fun() -> L = lists:duplicate(2_500_000, [$a, [<<"xx">>]]), fun() -> iolist_size(L) end end},
     {iolist_to_iovec, yields, fun() -> L = lists:duplicate(1_500_000, [$a, [<<"xx">>]]),
                                        fun() -> erlang:iolist_to_iovec(L) end end},
     {list_to_bitstring, yields, fun() -> L = lists:duplicate(3_000_000, $a), fun() -> list_to_bitstring(L) end end},
     {list_to_bitstring_piece, yields, fun() -> B = <<(bytes(200_000_000))/binary, 1:3>>,
                                                fun() -> list_to_bitstring([<<1:3>>, B]) end end},
     {list_to_binary_nils, yields, fun() -> L = nils(40_000_000), fun() -> list_to_binary(L) end end},
     {list_to_bitstring_nils, yields, fun() -> L = nils(40_000_000), fun() -> list_to_bitstring(L) end end},
     {iolist_size_nils, yields, fun() -> L = nils(40_000_000), fun() -> iolist_size(L) end end},
     {md5_nils, yields, fun() -> L = nils(40_000_000), fun() -> erlang:md5(L) end end},
     {re_run_nils, yields, fun() -> L = nils(40_000_000), fun() -> re:run(L, "a") end end},
     {binary_to_list, yields, fun() -> B = bytes(8_000_000), fun() -> binary_to_list(B) end end},
     {bitstring_to_list, yields, fun() -> B = bytes(8_000_000), fun() -> bitstring_to_list(B) end end},
     {binary_copy, yields, fun() -> fun() -> binary:copy(<<1, 2, 3>>, 60_000_000) end end},
     {binary_match, yields, fun() -> B = bytes(600_000_000), fun() -> binary:match(B, <<"zq">>) end end},
     {binary_matches, yields, fun() -> B = bytes(6_000_000), fun() -> binary:matches(B, [<<"a">>, <<"bx">>]) end end},
     {binary_split, yields, fun() -> B = bytes(8_000_000), fun() -> binary:split(B, <<"a">>, [global]) end end},
     {md5, yields, fun() -> B = bytes(60_000_000), fun() -> erlang:md5(B) end end},
     {md5_list, yields, fun() -> L = [bytes(64) || _ <- ints(500_000)], fun() -> erlang:md5(L) end end},
     {md5_update, yields, fun() -> B = bytes(60_000_000), C = erlang:md5_init(), fun() -> erlang:md5_update(C, B) end end},
     {crc32, yields, fun() -> B = bytes(800_000_000), fun() -> erlang:crc32(B) end end},
     {adler32, yields, fun() -> B = bytes(200_000_000), fun() -> erlang:adler32(B) end end},
     {characters_to_list, yields, fun() -> B = binary:copy(<<"åäö"/utf8>>, 1_500_000),
                                           fun() -> unicode:characters_to_list(B) end end},
     {characters_to_binary, on_average, fun() -> L = lists:duplicate(4_000_000, 1000),
                                             fun() -> unicode:characters_to_binary(L) end end},
     {re_run, yields, fun() -> B = binary:copy(<<"a">>, 3_000_000), fun() -> re:run(B, "(a|b)*c", [{match_limit, 1 bsl 30}]) end end},
     {binary_replace, yields, fun() -> B = bytes(4_000_000), fun() -> binary:replace(B, <<"a">>, <<"zz">>, [global]) end end},
     {binary_part_list, yields, fun() -> B = bytes(8_000_000), fun() -> binary:bin_to_list(B) end end},
     {longest_prefix, yields, fun() -> B = bytes(100_000_000), C = bytes(100_000_000),
                                      fun() -> binary:longest_common_prefix([B, C]) end end},
     {longest_suffix, yields, fun() -> B = bytes(100_000_000), C = bytes(100_000_000),
                                      fun() -> binary:longest_common_suffix([B, C]) end end},
     {encode_hex, yields, fun() -> B = bytes(4_000_000), fun() -> binary:encode_hex(B) end end},
     {base64_encode, yields, fun() -> B = bytes(3_000_000), fun() -> base64:encode(B) end end},
     {unicode_to_latin1, yields, fun() -> B = binary:copy(<<"åäö"/utf8>>, 5_000_000),
                                          fun() -> unicode:characters_to_binary(B, utf8, latin1) end end},
     {unicode_to_utf16, yields, fun() -> B = binary:copy(<<"åäö"/utf8>>, 5_000_000),
                                         fun() -> unicode:characters_to_binary(B, utf8, utf16) end end},
     {crypto_hash, yields, fun() -> crypto:start(), B = bytes(60_000_000), fun() -> crypto:hash(sha256, B) end end},
     {term_format, yields, fun() -> L = pairs(20_000), fun() -> io_lib:format("~p", [L]) end end},
     {zlib_uncompress, yields, fun() -> B = zlib:compress(bytes(60_000_000)), fun() -> zlib:uncompress(B) end end},
     {zlib_compress, yields, fun() -> B = bytes(20_000_000), fun() -> zlib:compress(B) end end}].

terms() ->
    [{term_to_binary, yields, fun() -> L = pairs(2_000_000), fun() -> term_to_binary(L) end end},
     {term_to_binary_compressed, yields, fun() -> L = pairs(100_000), fun() -> term_to_binary(L, [compressed]) end end},
     {term_to_iovec, yields, fun() -> L = pairs(2_000_000), fun() -> erlang:term_to_iovec(L) end end},
     {external_size, yields, fun() -> L = pairs(3_000_000), fun() -> erlang:external_size(L) end end},
     {binary_to_term, yields, fun() -> B = term_to_binary(pairs(1_000_000)), fun() -> binary_to_term(B) end end},
     {phash2, yields, fun() -> L = pairs(1_500_000), fun() -> erlang:phash2(L) end end},
     {list_to_integer, whole, fun() -> L = lists:duplicate(300_000, $9), fun() -> list_to_integer(L) end end},
     {persistent_term_put, whole, fun() -> L = lists:foldl(fun(_, A) -> [A] end, [], ints(500_000)),
                                           fun() -> persistent_term:put(stalls, L) end end},
     {external_size_of_bytes, yields, fun() -> L = lists:duplicate(10_000_000, 1), fun() -> erlang:external_size(L) end end},
     {term_to_binary_bytes, yields, fun() -> L = lists:duplicate(10_000_000, 1), fun() -> term_to_binary(L) end end},
     {phash, whole, fun() -> L = pairs(1_000_000), fun() -> erlang:phash(L, 1 bsl 32) end end},
     {phash2_binary, yields, fun() -> B = bytes(200_000_000), fun() -> erlang:phash2(B) end end},
     {phash2_bits, yields, fun() -> <<_:3, B/bitstring>> = bytes(200_000_000), fun() -> erlang:phash2(B) end end},
     {flat_size, whole, fun() -> L = pairs(3_000_000), fun() -> erts_debug:flat_size(L) end end},
     {copy_shared, whole, fun() -> L = pairs(300_000), fun() -> erts_debug:copy_shared(L) end end},
     {size_shared, whole, fun() -> L = pairs(300_000), fun() -> erts_debug:size_shared(L) end end},
     {send_after, whole, fun() -> L = pairs(1_500_000), fun() -> erlang:send_after(1 bsl 30, self(), L) end end},
     {fun_and_environment, whole, fun() -> L = pairs(1_500_000), fun() -> spawn(fun() -> L end) end end},
     {persistent_term_get_all, yields, fun() -> [persistent_term:put({stalls, I}, I) || I <- ints(3000)],
                                               fun() -> [persistent_term:get() || _ <- ints(100)] end end},
     {equal_lists, whole, fun() -> A = pairs(3_000_000), B = pairs(3_000_000), fun() -> A == B end end},
     {send, whole, fun() -> L = pairs(1_500_000), P = spawn(fun() -> receive stop -> ok end end), fun() -> P ! L end end}].

%% Terms that are compared, copied and decoded.
huge_terms() ->
    [{not_equal_lists, whole, fun() -> A = pairs(3_000_000), B = pairs(3_000_000), fun() -> A /= B end end},
     {less_lists, whole, fun() -> A = pairs(3_000_000), B = pairs(3_000_000), fun() -> A < B end end},
     {equal_maps, whole, fun() -> A = map(600_000), B = map(600_000), fun() -> A =:= B end end},
     {equal_binaries, whole, fun() -> A = bytes(400_000_000), B = bytes(400_000_000), fun() -> A =:= B end end},
     {spawn_args, whole, fun() -> L = pairs(1_500_000), fun() -> spawn(erlang, length, [L]) end end},
     {exit_reason, whole, fun() -> L = pairs(1_500_000),
                                   {P, M} = spawn_monitor(fun() -> receive stop -> ok end end),
                                   fun() -> exit(P, L), receive {'DOWN', M, _, _, _} -> ok end end end},
     {binary_to_term_map, whole, fun() -> B = term_to_binary(map(400_000)), fun() -> binary_to_term(B) end end},
     {binary_to_term_bytes, yields, fun() -> B = term_to_binary(lists:duplicate(8_000_000, 1)),
                                             fun() -> binary_to_term(B) end end},
     {binary_to_term_compressed, yields, fun() -> B = term_to_binary(pairs(1_500_000), [compressed]),
                                                  fun() -> binary_to_term(B) end end}].

map(N) -> maps:from_list(pairs(N)).

numbers() ->
    [{binary_to_integer, whole, fun() -> B = binary:copy(<<"9">>, 300_000), fun() -> binary_to_integer(B) end end},
     {decode_unsigned, whole, fun() -> B = bytes(4_000_000), fun() -> binary:decode_unsigned(B) end end},
     {encode_unsigned, whole, fun() -> N = ones(4_000_000), fun() -> binary:encode_unsigned(N) end end},
     {integer_to_list, {yields, 4}, fun() -> N = ones(300_000), fun() -> integer_to_list(N) end end},
     {integer_to_binary, {yields, 4}, fun() -> N = ones(300_000), fun() -> integer_to_binary(N, 7) end end},
     {multiply, whole, fun() -> N = ones(400_000), fun() -> N * N end end},
     {divide, whole, fun() -> N = ones(400_000), M = ones(200_000), fun() -> N div M end end},
     {remainder, whole, fun() -> N = ones(400_000), M = ones(200_000), fun() -> N rem M end end}].

%% 2^Bits - 1, of which the compiler knows nothing.
ones(Bits) ->
    put(ones, Bits),
    (1 bsl get(ones)) - 1.

processes_() ->
    [{info_messages, whole, fun() -> fill_mailbox(1_000_000), fun() -> process_info(self(), messages) end end},
     {info_messages_other, whole, fun() -> P = spawn(fun() -> receive never -> ok end end), [P ! I || I <- ints(1_000_000)],
                                           fun() -> process_info(P, messages) end end},
     {info_dictionary, whole, fun() -> fill_dictionary(600_000), fun() -> process_info(self(), dictionary) end end},
     {info_binary, whole, fun() -> Bs = [binary:copy(<<I:800>>) || I <- ints(300_000)],
                                   fun() -> process_info(self(), binary), Bs end end},
     {info_backtrace, whole, fun() -> P = spawn(fun() -> deep(200_000) end), timer:sleep(100),
                                      fun() -> process_info(P, backtrace) end end},
     {get_all, whole, fun() -> fill_dictionary(1_000_000), fun() -> get() end end},
     {get_keys, whole, fun() -> fill_dictionary(1_000_000), fun() -> get_keys() end end},
     {erase_all, whole, fun() -> fill_dictionary(600_000), fun() -> erase() end end},
     {exit_with_binaries, whole, fun() -> exiting(fun() -> [binary:copy(<<I:800>>) || I <- ints(300_000)] end) end},
     {exit_with_links, yields, fun() -> exiting(fun() -> [spawn_link(fun() -> receive stop -> ok end end)
                                                          || _ <- ints(100_000)] end) end},
     {exit_with_monitors, yields, fun() -> P = spawn(fun() -> receive stop -> ok end end),
                                           exiting(fun() -> [monitor(process, P) || _ <- ints(300_000)] end) end},
     {exit_with_tables, yields, fun() -> exiting(fun() -> [ets:new(t, []) || _ <- ints(20_000)] end) end}].

fill_mailbox(N) -> [self() ! I || I <- ints(N)].
fill_dictionary(N) -> [put(I, I) || I <- ints(N)].
deep(0) -> receive stop -> ok end;
deep(N) -> 1 + deep(N - 1).

%% A process that has what Make makes, and is killed.
exiting(Make) ->
    Me = self(),
    {P, M} = spawn_monitor(fun() -> X = Make(), Me ! made, receive stop -> X end end),
    receive made -> ok end,
    fun() -> exit(P, kill), receive {'DOWN', M, _, _, _} -> ok end end.

%% Single objects that are as large as a table.
huge_objects() ->
    [{insert_huge, whole, fun() -> L = pairs(1_500_000), T = ets:new(t, []), fun() -> ets:insert(T, {k, L}) end end},
     {lookup_huge, whole, fun() -> T = ets:new(t, []), ets:insert(T, {k, pairs(1_500_000)}), fun() -> ets:lookup(T, k) end end},
     {lookup_element_huge, whole, fun() -> T = ets:new(t, []), ets:insert(T, {k, pairs(1_500_000)}),
                                           fun() -> ets:lookup_element(T, k, 2) end end},
     {take_huge, whole, fun() -> T = ets:new(t, []), ets:insert(T, {k, pairs(1_500_000)}), fun() -> ets:take(T, k) end end}].

%% Very many objects of one key, and objects that are looked at in one go.
one_key() ->
    [{bag_lookup, whole, fun() -> T = one_key(duplicate_bag, 800_000), fun() -> ets:lookup(T, k) end end},
     {bag_lookup_element, whole, fun() -> T = one_key(duplicate_bag, 800_000), fun() -> ets:lookup_element(T, k, 2) end end},
     {bag_delete_key, whole, fun() -> T = one_key(duplicate_bag, 800_000), fun() -> ets:delete(T, k) end end},
     {bag_delete_object, whole, fun() -> T = one_key(duplicate_bag, 800_000), fun() -> ets:delete_object(T, {k, 1}) end end},
     {bag_take, whole, fun() -> T = one_key(duplicate_bag, 800_000), fun() -> ets:take(T, k) end end},
     {bag_insert_list, {yields, 4}, fun() -> T = ets:new(t, [duplicate_bag]), L = [{k, I} || I <- ints(400_000)],
                                        fun() -> ets:insert(T, L) end end},
     {match_spec_run, yields, fun() -> L = rows(400_000), S = ets:match_spec_compile([{{'$1', b, '_'}, [], ['$1']}]),
                                       fun() -> ets:match_spec_run(L, S) end end},
     {update_counter_list, whole, fun() -> T = ets:new(t, []), ets:insert(T, {k, 0}), L = lists:duplicate(600_000, {2, 1}),
                                           fun() -> ets:update_counter(T, k, L) end end},
     {tables_info, yields, fun() -> T = table(set, 100_000), fun() -> [ets:info(T) || _ <- ints(5000)] end end}].

one_key(Type, N) ->
    T = ets:new(t, [Type]),
    ets:insert(T, [{k, I} || I <- ints(N)]),
    T.

%% Lists of what a node has.
names() ->
    [{registered, whole, fun() -> [register(list_to_atom("stalls_" ++ integer_to_list(I)), spawn(fun() -> receive stop -> ok end end))
                                   || I <- ints(10_000)],
                                  fun() -> [registered() || _ <- ints(60)] end end},
     {re_compile, whole, fun() -> P = lists:duplicate(30_000, "a(b|c)?"), fun() -> re:compile(P) end end},
     {compile_pattern, whole, fun() -> L = [integer_to_binary(I) || I <- ints(40_000)], fun() -> binary:compile_pattern(L) end end},
     {decode_packet, yields, fun() -> B = bytes(60_000_000), fun() -> erlang:decode_packet(line, B, []) end end},
     {is_7bit, whole, fun() -> B = bytes(60_000_000), fun() -> unicode:bin_is_7bit(B) end end},
     {right_utf8, yields, fun() -> B = binary:copy(<<"åäö"/utf8>>, 10_000_000), fun() -> unicode:characters_to_binary(B) end end},
     {wrong_utf8, yields, fun() -> B = <<(binary:copy(<<"åäö"/utf8>>, 10_000_000))/binary, 255>>,
                                   fun() -> unicode:characters_to_binary(B) end end},
     {binary_to_list_part, yields, fun() -> B = bytes(8_000_000), fun() -> binary_to_list(B, 2, 7_999_999) end end},
     {common_of_many, yields, fun() -> L = lists:duplicate(1_000_000, <<"abcdefgh">>),
                                       fun() -> binary:longest_common_prefix(L) end end},
     {atomics_new, whole, fun() -> fun() -> atomics:new(6_000_000, []) end end},
     {monitors_of_one, yields, fun() -> P = spawn(fun() -> receive stop -> ok end end), [monitor(process, P) || _ <- ints(200_000)],
                                        fun() -> exit(P, kill), receive {'DOWN', _, _, P, _} -> ok end end end},
     {info_links, whole, fun() -> [spawn_link(fun() -> receive stop -> ok end end) || _ <- ints(100_000)],
                                  fun() -> [process_info(self(), links) || _ <- ints(5)] end end},
     {match_spec_test, whole, fun() -> T = list_to_tuple(ints(1_000_000)),
                                       fun() -> erlang:match_spec_test(T, [{'$1', [], ['$1']}], table) end end}].

ports() ->
    [{write_file_iolist, whole, fun() -> L = lists:duplicate(3_000_000, [$a, $b]), fun() -> file:write_file("/dev/null", L) end end}].

tables() ->
    [case_of(Name, Type, F) || Type <- [set, ordered_set, bag], {Name, F} <- table_calls()] ++
    [{insert_list, {yields, 4}, fun() -> L = rows(300_000), T = ets:new(t, []), fun() -> ets:insert(T, L) end end},
     {insert_list_ordered, {yields, 4}, fun() -> L = rows(300_000), T = ets:new(t, [ordered_set]), fun() -> ets:insert(T, L) end end},
     {insert_new_list, {yields, 4}, fun() -> L = rows(200_000), T = ets:new(t, []), fun() -> ets:insert_new(T, L) end end},
     {delete_all_fixed, yields, fun() -> T = table(set, 1_000_000), ets:safe_fixtable(T, true),
                                         fun() -> ets:delete_all_objects(T) end end},
     {all, yields, fun() -> [ets:new(t, []) || _ <- ints(20_000)], fun() -> lists:foreach(fun(_) -> ets:all() end, ints(20)) end end},
     {delete_of_many, yields, fun() -> Ts = [ets:new(t, []) || _ <- ints(20_000)], fun() -> [ets:delete(T) || T <- Ts] end end},
     {owner_exits, yields, fun() -> {P, M} = spawn_monitor(fun() -> table(set, 500_000), receive stop -> ok end end),
                                    timer:sleep(1),
                                    erlang:process_info(P, message_queue_len),
                                    fun() -> P ! stop, receive {'DOWN', M, _, _, _} -> ok end end end}].

case_of(Name, Type, F) ->
    {list_to_atom(atom_to_list(Name) ++ "_" ++ atom_to_list(Type)), yields,
     fun() -> T = table(Type, 400_000), fun() -> F(T) end end}.

table_calls() ->
    [{match, fun(T) -> ets:match(T, {'$1', a, '_'}) end},
     {match_object, fun(T) -> ets:match_object(T, {'$1', a, '_'}) end},
     {match_delete, fun(T) -> ets:match_delete(T, {'_', b, '_'}) end},
     {select, fun(T) -> ets:select(T, [{{'$1', '_', '_'}, [{'>', '$1', 500}], ['$1']}]) end},
     {select_one, fun(T) -> ets:select(T, [{{'$1', b, '_'}, [], ['$1']}], 1) end},
     {select_reverse, fun(T) -> ets:select_reverse(T, [{{'$1', b, '_'}, [], ['$1']}]) end},
     {select_count, fun(T) -> ets:select_count(T, [{{'$1', '_', '_'}, [{'>', '$1', 500}], [true]}]) end},
     {select_delete, fun(T) -> ets:select_delete(T, [{{'$1', '_', '_'}, [{'>', '$1', 500}], [true]}]) end},
     {tab2list, fun(T) -> ets:tab2list(T) end},
     {delete_all, fun(T) -> ets:delete_all_objects(T) end},
     {delete, fun(T) -> ets:delete(T) end}] .

rows(N) -> [{I, a, b} || I <- ints(N)].
table(Type, N) ->
    T = ets:new(t, [Type, public]),
    [ets:insert(T, {I, a, b}) || I <- ints(N)],
    T.

others() ->
    [{select_replace, yields, fun() -> T = table(set, 300_000),
                                       fun() -> ets:select_replace(T, [{{'$1', a, '_'}, [], [{{'$1', c, b}}]}]) end end},
     {processes, yields, fun() -> [spawn(fun() -> receive stop -> ok end end) || _ <- ints(100_000)],
                                  fun() -> [processes() || _ <- ints(40)] end end},
     {read_file, whole, fun() -> F = filename:join(os:getenv("TMPDIR", "/tmp"), "kvik_stalls_" ++ os:getpid()),
                                 ok = file:write_file(F, bytes(100_000_000)),
                                 fun() -> {ok, _} = file:read_file(F), file:delete(F) end end}].
