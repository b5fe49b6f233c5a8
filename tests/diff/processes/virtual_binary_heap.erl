%% The virtual binary heaps in garbage_collection_info: binaries count as old once they have survived two minor
%% collections, as young again after a full one, and min_bin_vheap_size delays collections.
-module(virtual_binary_heap).
-export([main/0]).

-define(WORDS, 125_000).

main() ->
    [t:p({Options, in_process(fun collected/0, Options)}) || Options <- options()],
    [t:p({Options, in_process(fun delayed/0, Options)}) || Options <- options()],
    {_, Delayed} = in_process(fun() -> process_flag(min_bin_vheap_size, 1_000_000), delayed() end, []),
    t:p({flag, Delayed}),
    t:p({collected_by_another, by_another(hd(tl(options())))}).

options() -> [[], [{min_heap_size, 5000}, {min_bin_vheap_size, 1_000_000}], [{fullsweep_after, 0}]].

in_process(F, Options) ->
    {P, M} = spawn_opt(fun() -> exit(F()) end, [monitor | Options]),
    receive {'DOWN', M, process, P, Result} -> Result end.

collected() ->
    Bs = [binary:copy(<<7>>, 100_000) || _ <- lists:seq(1, 10)],
    [minor() || _ <- [1, 2]],
    Minor = counted(),
    garbage_collect(),
    Full = counted(),
    {Minor, Full, length(Bs)}.

minor() -> garbage_collect(self(), [{type, minor}]).

%% Whether all ten are counted, and how many as old
counted() ->
    #{bin_vheap_size := Young, bin_old_vheap_size := Old} = info(),
    {Young + Old =:= ?WORDS, if Old =:= 0 -> none; Old > ?WORDS div 2 -> most; true -> some end}.

info() ->
    {_, Info} = process_info(self(), garbage_collection_info),
    maps:from_list(Info).

%% Collections that 100 MB of short-lived binaries cause
delayed() ->
    #{bin_vheap_block_size := First} = info(),
    Before = collections(),
    [binary:copy(<<7>>, 1000) || _ <- lists:seq(1, 100_000)],
    case collections() - Before of
        N when N < 100 -> {First, seldom};
        _ -> {First, often}
    end.

collections() ->
    {_, Info} = process_info(self(), garbage_collection),
    proplists:get_value(minor_gcs, Info).

%% A collection that another process asks for leaves the setting as it is.
by_another(Options) ->
    P = spawn_opt(fun() -> receive stop -> ok end end, Options),
    garbage_collect(P),
    {_, Info} = process_info(P, garbage_collection_info),
    P ! stop,
    [V || {K, V} <- Info, K =:= bin_vheap_block_size orelse K =:= bin_old_vheap_size].
