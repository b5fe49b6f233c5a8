%% A heap may not begin with more than it may come to, whoever sets the two.
-module(heap_limits_fit).
-export([main/0]).

main() ->
    [t:p({F, V, try_flag(F, V)}) || {F, V} <- flags()],
    [t:p({O, given(O), requested(O)}) || O <- options()],
    [t:p({L, in_process(L)}) || L <- own()],
    ok.

options() ->
    [[{min_heap_size, 5000}, {max_heap_size, 1000}], [{max_heap_size, 1000}, {min_heap_size, 5000}],
     [{max_heap_size, 1000}, {min_heap_size, 990}], [{max_heap_size, 1598}, {min_heap_size, 990}],
     [{max_heap_size, 0}, {min_heap_size, 990}], [{max_heap_size, 232}], [{max_heap_size, 233}]].
own() ->
    [[{max_heap_size, 10000}], [{max_heap_size, 100}], [{min_heap_size, 20000}, {max_heap_size, 10000}],
     [{min_heap_size, 20000}, {max_heap_size, 0}], [{max_heap_size, 10000}, {min_heap_size, 20000}]].

requested(O) ->
    R = spawn_request(fun() -> ok end, O),
    receive {spawn_reply, R, What, _} -> What end.

in_process(L) ->
    {P, R} = spawn_monitor(fun() ->
        exit(try [process_flag(K, V) || {K, V} <- L] catch C:E -> {C, E} end)
    end),
    receive {'DOWN', R, process, P, Answer} -> Answer end.

flags() ->
    [{min_heap_size, N} || N <- [1000, 10, 0, -1, 1 bsl 60, 400000, x, 233]] ++
        [{min_bin_vheap_size, N} || N <- [5, 100000, 46421, -1, 46422]] ++
        [{fullsweep_after, N} || N <- [3, 100000, 1 bsl 62, -1, x, 65535]] ++
        [{max_heap_size, N} || N <- [300, 10, #{size => 1000, kill => false}, x, #{size => 0, kill => true}]] ++
        [{min_heap_size, 5000}, {max_heap_size, 4000}, {max_heap_size, 6000}, {max_heap_size, 0}, {min_heap_size, 233}].

try_flag(F, V) ->
    try erlang:system_flag(F, V) of
        Before -> {Before, erlang:system_info(F), given([]), given([{min_heap_size, 500}, {min_bin_vheap_size, 300}]),
                   given([{max_heap_size, 240}]), (catch process_flag(min_heap_size, 300))}
    catch
        C:R -> {C, R}
    end.

given(Options) ->
    try spawn_opt(fun() -> receive stop -> ok end end, Options) of
        P ->
            {garbage_collection, G} = process_info(P, garbage_collection),
            P ! stop,
            lists:keydelete(minor_gcs, 1, G)
    catch
        C:R -> {C, R}
    end.
