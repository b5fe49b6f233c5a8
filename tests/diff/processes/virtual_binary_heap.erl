%% The virtual binary heaps in garbage_collection_info: binaries count as old once they have survived two minor
%% collections, as young again after a full one, and min_bin_vheap_size delays collections.
-module(virtual_binary_heap).
-export([main/0, woken/2]).

-define(WORDS, 125_000).

main() ->
    [t:p({Options, in_process(fun collected/0, Options)}) || Options <- options()],
    [t:p({Options, in_process(fun delayed/0, Options)}) || Options <- options()],
    {_, Delayed} = in_process(fun() -> process_flag(min_bin_vheap_size, 1_000_000), delayed() end, []),
    t:p({flag, Delayed}),
    t:p({collected_by_another, by_another(hd(tl(options())))}),
    Hibernating = [hibernate, hibernate_with_garbage, hibernate_with_message],
    [t:p({How, hibernating(How, Options)}) || How <- Hibernating, Options <- options()].

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
    sizes(Info).

sizes(Info) -> [V || {K, V} <- Info, K =:= bin_vheap_block_size orelse K =:= bin_old_vheap_size].

%% Neither does hibernation, whether it ends at once or not.
hibernating(How, Options) ->
    Parent = self(),
    P = spawn_opt(fun() -> hibernate(How, Parent) end, Options),
    case How of
        hibernate_with_message -> receive {P, Info} -> ok end;
        _ -> wait_until_hibernated(P), {_, Info} = process_info(P, garbage_collection_info)
    end,
    P ! stop,
    sizes(Info).

hibernate(How, Parent) ->
    case How of
        hibernate_with_garbage -> [self() ! binary:copy(<<7>>, 1000) || _ <- lists:seq(1, 10)], garbage();
        hibernate_with_message -> self() ! go;
        hibernate -> ok
    end,
    erlang:hibernate(?MODULE, woken, [How, Parent]).

garbage() -> receive B when is_binary(B) -> garbage() after 0 -> ok end.

woken(hibernate_with_message, Parent) ->
    receive go -> ok end,
    {_, Info} = process_info(self(), garbage_collection_info),
    Parent ! {self(), Info};
woken(_, _) -> ok.

wait_until_hibernated(P) ->
    case process_info(P, current_function) of
        {_, {erlang, hibernate, 3}} -> ok;
        _ -> erlang:yield(), wait_until_hibernated(P)
    end.
