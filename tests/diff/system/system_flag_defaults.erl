%% `system_flag/2` of what new processes begin with: they do, those before them do not.
-module(system_flag_defaults).
-export([main/0]).

main() ->
    Before = waiting([]),
    [set(Flag, Value) || {Flag, Value} <- flags()],
    t:p(erlang:system_info(garbage_collection)),
    t:p({before, settings(Before)}),
    t:p({asked, settings(waiting([{min_heap_size, 20}, {min_bin_vheap_size, 20}, {fullsweep_after, 3}]))}),
    t:pc(fun() -> spawn_opt(fun() -> ok end, [{max_heap_size, 500}]) end),
    t:pc(fun() -> process_flag(min_heap_size, 20) end),
    t:pc(fun() -> process_info(self(), min_heap_size) end).

flags() ->
    [{fullsweep_after, 7}, {fullsweep_after, 100000}, {fullsweep_after, -1}, {fullsweep_after, a}, {fullsweep_after, 5},
     {min_heap_size, 300}, {min_heap_size, 1}, {min_heap_size, 0}, {min_heap_size, -1}, {min_heap_size, 1000},
     {min_bin_vheap_size, 5}, {min_bin_vheap_size, 1 bsl 70}, {min_bin_vheap_size, 100000},
     {max_heap_size, 500}, {max_heap_size, #{size => 5000, kill => false}}, {max_heap_size, 1 bsl 70}].

set(Flag, Value) ->
    t:p({Flag, Value}),
    t:pc(fun() -> erlang:system_flag(Flag, Value) end),
    t:p(settings(waiting([]))).

waiting(Options) -> spawn_opt(fun() -> receive stop -> ok end end, Options).

settings(P) -> [process_info(P, I) || I <- [fullsweep_after, min_heap_size, min_bin_vheap_size, max_heap_size]].
