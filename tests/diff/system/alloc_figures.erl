%% The figures of the emulator's allocators: their shapes, and that they add up.
-module(alloc_figures).
-export([main/0]).

main() ->
    Names = erlang:system_info(alloc_util_allocators),
    t:p(Names),
    t:p(the_allocator, the_allocator(erlang:system_info(allocator), Names)),
    [t:p({Kind, Name}, t:c(fun() -> shape(Name, erlang:system_info({Kind, Name})) end))
     || Name <- Names ++ [sys_alloc, mseg_alloc, erts_mmap, alloc_util, test_alloc], Kind <- [allocator, allocator_sizes]],
    t:p([{Kind, t:c(fun() -> [element(1, R) || R <- erlang:system_info({Kind, [ets_alloc, test_alloc, erts_mmap, sys_alloc]})] end)}
         || Kind <- [allocator, allocator_sizes]]),
    t:p([{Bad, element(2, t:c(fun() -> erlang:system_info({Kind, Bad}) end))}
         || Bad <- [no_alloc, [no_alloc], [ets_alloc, no_alloc], [], [ets_alloc, ets_alloc], [ets_alloc | sys_alloc], "a"],
            Kind <- [allocator, allocator_sizes]]),
    %% What is off cannot be set.
    t:p([{Bad, t:c(fun() -> erlang:system_flag(erts_alloc, Bad) end)}
         || Bad <- [{sys_alloc, sbct, 8}, {test_alloc, sbct, 8}, {test_alloc, no_parameter, -1}, {test_alloc, sbct, x}, {test_alloc, 1, 1},
                    {test_alloc, sbct}, {mseg_alloc, sbct, 8}, {alloc_util, sbct, 8}, {no_alloc, sbct, 8}, []]]),
    t:p(adds_up, adds_up(Names)),
    Keep = {grow(binary_alloc, fun() -> binary:copy(<<7>>, 20_000_000) end),
            grow(ets_alloc, fun() -> T = ets:new(t, []), ets:insert(T, [{N, lists:seq(1, 20)} || N <- lists:seq(1, 5000)]), T end),
            grow(eheap_alloc, fun() -> lists:seq(1, 1_000_000) end)},
    t:id(Keep),
    t:p(observer_backend, [K || K <- [alloc_info], {_, [{_, [{instance, _, _} | _]} | _]} <- [lists:keyfind(K, 1, observer_backend:sys_info())]]),
    ok.

the_allocator({Allocator, Version, Features, Settings}, Names) ->
    {lists:member(Allocator, [undefined, glibc]), lists:all(fun is_integer/1, Version),
     Names -- Features, Names -- [N || {N, [_ | _]} <- Settings],
     [N || {N, _} <- Settings, not lists:member(N, Names)]}.

%% The keys of the first instance. Of blocks there may be none.
shape(_, false) -> false;
shape(erts_mmap, [{default_mmap, Items} | _]) -> keys(Items);
shape(alloc_util, [{instance, 0, _}]) -> ok;
shape(sys_alloc, [{instance, 0, Items}]) -> keys(Items);
shape(mseg_alloc, [{instance, 0, Items} | _]) -> [inside(I) || I <- Items];
shape(Name, [{instance, 0, Items} | _]) -> [item(Name, I) || I <- Items].

item(_, {options, L}) -> {options, [K || K <- [e, t, atags, ramv, cp, as], lists:keymember(K, 1, L)]};
item(_, {fix_types, L}) -> {fix_types, [L1 || {proc, _, _} = L1 <- kinds(L)]};
item(Name, {Carriers, L}) when Carriers =:= mbcs; Carriers =:= sbcs -> {Carriers, [figure(Name, F) || F <- L]};
item(_, {K, L}) -> {K, kinds(L)};
item(_, {versions, A, B}) -> {versions, io_lib:printable_list(A), io_lib:printable_list(B)}.

figure(_, {blocks, []}) -> blocks;
figure(_, {blocks, L}) ->
    true = lists:all(fun({_, Fs}) -> lists:all(fun({K, A, B, C}) -> (K =:= size orelse K =:= count) andalso A =< C andalso B =< C end, Fs) end, L),
    blocks;
figure(_, F) -> kind(F).

inside({version, V}) -> {version, io_lib:printable_list(V)};
inside({memkind, L}) -> {memkind, [case I of {name, N} -> {name, N}; {K, Fs} -> {K, kinds(Fs)} end || I <- L]};
inside({options, L}) -> {options, kinds(L)};
inside(F) -> kind(F).

keys(L) -> [element(1, I) || I <- L].
kinds(L) -> [kind(F) || F <- L].
%% A name with numbers.
kind(F) ->
    [K | Ns] = tuple_to_list(F),
    true = lists:all(fun is_integer/1, Ns),
    list_to_tuple([K | [n || _ <- Ns]]).

%% All blocks are nearly the total (which counts a few MB more on OTP), and no carriers are smaller than what they contain.
adds_up(Names) ->
    Before = erlang:memory(total),
    Sizes = erlang:system_info({allocator_sizes, Names}),
    After = erlang:memory(total),
    Blocks = lists:sum([blocks(N, Sizes) || N <- Names]),
    Carriers = lists:sum([carriers(N, Sizes) || N <- Names]),
    {Blocks * 10 > min(Before, After) * 6, Blocks * 10 < max(Before, After) * 12, Carriers >= Blocks,
     [N || N <- Names, carriers(N, Sizes) < blocks(N, Sizes)],
     %% Those that always have something.
     [N || N <- [ll_alloc, eheap_alloc, ets_alloc, fix_alloc, literal_alloc, binary_alloc], blocks(N, Sizes) =:= 0]}.

grow(Name, Fun) ->
    Before = blocks(Name, erlang:system_info({allocator_sizes, [Name]})),
    New = Fun(),
    After = blocks(Name, erlang:system_info({allocator_sizes, [Name]})),
    t:p({grows, Name}, After - Before > 1_000_000),
    New.

blocks(Name, Sizes) ->
    {_, Instances} = lists:keyfind(Name, 1, Sizes),
    lists:sum([N || {instance, _, Items} <- Instances, {Carriers, L} <- Items, Carriers =/= fix_types, {blocks, Types} <- L,
                    {_, Figures} <- Types, {size, N} <- [current(F) || F <- Figures]]).

carriers(Name, Sizes) ->
    {_, Instances} = lists:keyfind(Name, 1, Sizes),
    lists:sum([N || {instance, _, Items} <- Instances, {Carriers, L} <- Items, Carriers =/= fix_types,
                    {carriers_size, N} <- [current(F) || F <- L, element(1, F) =:= carriers_size]]).

%% In the pool there is one figure, elsewhere three.
current(F) -> {element(1, F), element(2, F)}.
