%% since 29
%% Native records as terms: order, equality, hashes, printing, external format, tables and match
%% specifications, sizes, keys of maps.
-module(since29_record_terms).
-export([main/0]).

-record #r{fx = 0, fy = 0}.
-export_record([e]).
-record #e{fb = 1, fa = 2}.
-record #n{}.
-record #s{fonly}.

main() ->
    order(),
    hashes(),
    printing(),
    external(),
    tables(),
    sizes(),
    deep().

all() ->
    [#r{}, #r{fx = 1}, #r{fy = 1}, #r{fx = 0.0}, #r{fx = 1.0, fy = 0.0}, #e{}, #e{fb = 0}, #n{}, #s{fonly = [1 | 2]},
     #s{fonly = #s{fonly = #n{}}}, #r{fx = "text", fy = <<1, 2, 3>>}, #r{fx = #{a => #r{}}, fy = {#n{}}},
     fake(m, r, true, [{fx, 0}, {fy, 0}]), fake(?MODULE, r, true, [{fx, 0}, {fy, 0}]),
     fake(?MODULE, r, false, [{fy, 0}, {fx, 0}]), fake(?MODULE, r, false, [{fx, 0}]),
     fake(?MODULE, r, false, [{fx, 0}, {fz, 0}]), fake(zz, zz, false, [])].

fake(M, N, Exported, Fields) -> records:create(M, N, Fields, #{is_exported => Exported}).

others() -> [1, 1.5, a, make_ref(), fun erlang:self/0, self(), {}, {1, 2}, #{}, #{a => 1}, [], [1], <<>>, <<1:3>>].

order() ->
    All = all(),
    [t:p([cmp(A, B) || B <- All]) || A <- All],
    t:p([[cmp(A, B) || A <- [#r{}, #n{}]] || B <- others()]),
    t:p(lists:sort(All)),
    t:p(lists:usort([R || _ <- [1, 2], R <- All]) =:= lists:usort(All)),
    t:p([{max(A, #r{}), min(A, #r{})} || A <- [{}, #{}, []]]),
    M = maps:from_list([{R, I} || {I, R} <- lists:enumerate(All)]),
    t:p([maps:get(R, M) || R <- all()]),
    L = maps:from_list([{#r{fx = I, fy = {I}}, I} || I <- lists:seq(1, 200)]),
    t:p(lists:sum([maps:get(#r{fx = I, fy = {I}}, L) || I <- lists:seq(1, 200)])),
    t:p(lists:keysort(1, [{R} || R <- All]) =:= [{R} || R <- lists:sort(All)]).

cmp(A, B) when A =:= B -> same;
cmp(A, B) when A == B -> eq;
cmp(A, B) when A < B -> lt;
cmp(A, B) when A > B -> gt.

hashes() ->
    t:p([erlang:phash2(R) || R <- all()]),
    t:p([erlang:phash2([R, {R}, #{R => R}], 1 bsl 32) || R <- all()]),
    t:p([erlang:phash(R, 1 bsl 32) || R <- all()]).

printing() ->
    [io:format("~p|~w|~0tp|~ts~n", [R, R, R, io_lib:format("~P", [R, 6])]) || R <- all()],
    io:format("~p~n", [fake('M o', 'r\'s', true, [{'f b', 'C'}, {list_to_atom([1025]), "x"}])]),
    io:format("~p~n", [[#r{fx = lists:seq(1, 40), fy = [#e{} || _ <- lists:seq(1, 10)]}]]),
    t:p(catch error(#r{})).

external() ->
    [t:p(binary_to_list(term_to_binary(R))) || R <- all()],
    [begin
         B = term_to_binary(R, O),
         t:p({binary_to_term(B) =:= R, erlang:external_size(R), byte_size(B)})
     end || R <- all(), O <- [[], [compressed], [deterministic], [{minor_version, 1}]]],
    t:p([t:c(fun() -> binary_to_term(B) end) || B <- bad()]),
    t:p(records:get_field_names(binary_to_term(good([fzz, faa, fmm])))),
    t:p(t:c(fun() -> binary_to_term(good([a]), [safe]) end)),
    <<131, _, Cut/binary>> = term_to_binary(#r{fx = 1}),
    t:p([t:c(fun() -> binary_to_term(<<131, $C, (binary:part(Cut, 0, N))/binary>>) end)
         || N <- lists:seq(0, byte_size(Cut) - 1)]).

good(Keys) ->
    N = length(Keys),
    iolist_to_binary([131, $C, <<N:32, 0>>, atom(m), atom(r), [atom(K) || K <- Keys], [[97, I] || I <- lists:seq(1, N)]]).

atom(A) -> [119, length(atom_to_list(A)), atom_to_list(A)].

bad() ->
    [iolist_to_binary(B) ||
        B <- [[131, $C, <<0:32, 2>>, atom(m), atom(r)],
              [131, $C, <<1:32, 0>>, atom(m), atom(r), [97, 1], [97, 1]],
              [131, $C, <<1:32, 0>>, [97, 1], atom(r), atom(a), [97, 1]],
              [131, $C, <<2:32, 0>>, atom(m), atom(r), atom(a), atom(a), [97, 1, 97, 2]],
              [131, $C, <<16#FFFFFFFF:32, 0>>, atom(m), atom(r), atom(a)],
              [131, $C, <<16#FFFFFFF:32, 0>>, atom(m), atom(r), atom(a)]]].

tables() ->
    All = all(),
    [begin
         T = ets:new(t, [Type, public]),
         ets:insert(T, [{R, I} || {I, R} <- lists:enumerate(All)]),
         t:p([ets:lookup_element(T, R, 2) || R <- All, ets:member(T, R)]),
         t:p([ets:match(T, {#r{fx = 1}, '$1'}), ets:match_object(T, {#r{fx = '_'}, '_'}),
              ets:select(T, [{{'$1', '$2'}, [{is_record, '$1', ?MODULE, e}], ['$2']}])]),
         t:p(lists:sort(ets:select(T, [{{'$1', '$2'}, [{'<', '$1', {const, #r{fx = 1}}}], ['$2']}]))),
         t:p(lists:sort(ets:tab2list(T)) =:= lists:sort(ets:match_object(T, '_'))),
         ets:delete(T)
     end || Type <- [set, ordered_set]],
    t:p(ets:match_spec_run([#r{fx = 5}, 1], ets:match_spec_compile([{#r{fx = 5}, [], [{{'$_', yes}}]}]))),
    t:p(catch ets:test_ms({1}, [{{'$1'}, [{is_record, '$1', a, 1}], [true]}, {'_', [], [false]}])),
    persistent_term:put(?MODULE, #r{fx = [long, list]}),
    t:p(persistent_term:get(?MODULE)),
    put(record, #e{}),
    t:p(get(record)).

sizes() ->
    t:p([{erts_debug:flat_size(R), erts_debug:size([R, R])} || R <- all()]),
    t:p([erts_debug:same(A, A) || A <- [#r{}]]).

%% No walk recurses on the native stack.
deep() ->
    D = nest(200000, #n{}),
    E = nest(200000, #n{}),
    t:p([D =:= E, D == E, D < E, erlang:phash2(D) =:= erlang:phash2(E), erts_debug:flat_size(D) > 400000]),
    B = term_to_binary(D),
    t:p(binary_to_term(B) =:= D),
    Self = self(),
    spawn(fun() -> Self ! {same, D =:= E} end),
    receive {same, S} -> t:p(S) end,
    T = ets:new(t, []),
    ets:insert(T, {1, D}),
    t:p(ets:lookup_element(T, 1, 2) =:= E).

nest(0, R) -> R;
nest(N, R) -> nest(N - 1, #s{fonly = R}).
