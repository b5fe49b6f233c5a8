%% since 27
%% {dictionary, Key}, label and async_dist; max_heap_size with include_shared_binaries.
-module(since27_process_info).
-export([main/0]).

main() ->
    keys(),
    others(),
    labels(),
    heap_sizes(),
    async_dist(),
    binaries().

keys() ->
    put(a, 1),
    put({b, "x"}, [2, 3]),
    put(undefined, <<"u">>),
    [t:p(K, process_info(self(), K))
     || K <- [{dictionary, a}, {dictionary, {b, "x"}}, {dictionary, none}, {dictionary, undefined}, {dictionary, 1.0}]],
    t:p(process_info(self(), [{dictionary, a}, registered_name, {dictionary, {b, "x"}}, {dictionary, a}, {dictionary, no}])),
    t:p(process_info(self(), [])),
    [t:p(K, t:c(fun() -> process_info(self(), K) end))
     || K <- [{dictionary}, {dictionary, a, b}, {links, a}, {label, a}, dictionari, [a], [{x, y}], [{dictionary, a} | b],
              priority_message, {1, 2}]],
    t:p(t:c(fun() -> process_info(make_ref(), {dictionary, a}) end)),
    process_flag(sensitive, true),
    t:p(process_info(self(), {dictionary, a})),
    t:p(process_info(self(), [{dictionary, a}, dictionary])),
    process_flag(sensitive, false),
    t:p(process_info(self(), {dictionary, a})).

others() ->
    Me = self(),
    Big = lists:seq(1, 2000),
    P = spawn(fun() -> put(key, Big), put({key, Big}, value), put(bin, binary:copy(<<"b">>, 1000)), Me ! ready, receive stop -> ok end end),
    receive ready -> ok end,
    t:p({{dictionary, key}, Big} =:= process_info(P, {dictionary, key})),
    t:p({{dictionary, {key, Big}}, value} =:= process_info(P, {dictionary, {key, Big}})),
    t:p(process_info(P, [{dictionary, bin}, {dictionary, none}, status, {dictionary, bin}])),
    P ! stop,
    t:await(fun() -> not is_process_alive(P) end),
    t:p(process_info(P, {dictionary, key})),
    t:p(process_info(P, [{dictionary, key}, label])).

labels() ->
    t:p(process_info(self(), label)),
    t:p(proc_lib:get_label(self())),
    ok = proc_lib:set_label({my, "label"}),
    t:p(process_info(self(), label)),
    t:p(process_info(self(), [label, {dictionary, '$process_label'}])),
    t:p(proc_lib:get_label(self())),
    Me = self(),
    P = spawn(fun() -> proc_lib:set_label(lists:seq(1, 500)), process_flag(sensitive, true), Me ! ready, receive stop -> ok end end),
    receive ready -> ok end,
    t:p({label, lists:seq(1, 500)} =:= process_info(P, label)),
    t:p(lists:seq(1, 500) =:= proc_lib:get_label(P)),
    t:p(process_info(P, {dictionary, '$process_label'})),
    exit(P, kill),
    t:await(fun() -> not is_process_alive(P) end),
    t:p(proc_lib:get_label(P)).

heap_sizes() ->
    t:p(process_flag(max_heap_size, #{size => 100000, include_shared_binaries => true})),
    t:p(process_info(self(), max_heap_size)),
    t:p(process_flag(max_heap_size, #{size => 0, include_shared_binaries => false, kill => true})),
    t:p(process_info(self(), [max_heap_size, garbage_collection_info]) =/= []),
    {garbage_collection, G} = process_info(self(), garbage_collection),
    t:p(lists:keyfind(max_heap_size, 1, G)),
    [t:p(M, t:c(fun() -> process_flag(max_heap_size, M) end))
     || M <- [#{size => 0, include_shared_binaries => 1}, #{size => 0, include_shared_binaries => yes}, #{include_shared_binaries => true},
              0, #{size => 0}]],
    t:p(erlang:system_info(max_heap_size)),
    t:p(erlang:system_flag(max_heap_size, #{size => 0, include_shared_binaries => true})),
    t:p(erlang:system_info(max_heap_size)),
    spawn_and_wait(fun() -> t:p(process_info(self(), max_heap_size)) end, []),
    t:p(erlang:system_flag(max_heap_size, #{size => 0, include_shared_binaries => false})),
    spawn_and_wait(fun() -> t:p(process_info(self(), max_heap_size)) end,
                   [{max_heap_size, #{size => 300000, include_shared_binaries => true, error_logger => false}}]),
    t:p(t:c(fun() -> spawn_opt(fun() -> ok end, [{max_heap_size, #{size => 300000, include_shared_binaries => 7}}]) end)).

async_dist() ->
    t:p(erlang:system_info(async_dist)),
    t:p(process_info(self(), async_dist)),
    t:p(process_flag(async_dist, true)),
    t:p(process_info(self(), [async_dist])),
    t:p(t:c(fun() -> process_flag(async_dist, maybe_) end)),
    spawn_and_wait(fun() -> t:p(process_info(self(), async_dist)) end, []),
    spawn_and_wait(fun() -> t:p(process_info(self(), async_dist)) end, [{async_dist, true}]),
    t:p(t:c(fun() -> spawn_opt(fun() -> ok end, [{async_dist, 1}]) end)).

%% A process that keeps large binaries: their size counts only if that is asked for.
binaries() ->
    [spawn_and_wait(fun() -> keep([], 40) end,
                    [{max_heap_size, #{size => 100000, error_logger => false, include_shared_binaries => Counts}}])
     || Counts <- [false, true]].

keep(Kept, 0) -> t:p(length(Kept));
keep(Kept, N) ->
    New = binary:copy(<<N>>, 100000),
    garbage_collect(),
    keep([New | Kept], N - 1).

spawn_and_wait(F, Options) ->
    {_, M} = spawn_opt(F, [monitor | Options]),
    receive {'DOWN', M, process, _, Reason} -> t:p(ended, Reason) end.
