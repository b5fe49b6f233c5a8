%% Small maps whose keys are atoms: the order in which they are listed, which since OTP 26 is that in
%% which atoms were first named, and what must not depend on it.
-module(map_atom_keys).
-export([main/0]).

main() ->
    Made = [list_to_atom("mak_" ++ [C]) || C <- "zmakyb"],
    Keys = [mak_w, mak_c | Made],
    M = maps:from_list([{K, atom_to_list(K)} || K <- Keys]),
    t:p({listed, maps:to_list(M), maps:keys(M), maps:values(M)}),
    t:p({put, lists:foldl(fun(K, A) -> A#{K => 1} end, #{}, lists:sort(Keys))}),
    t:p({mixed, M#{1 => i, 1.5 => f, {t} => t, "s" => s, <<"b">> => b, #{} => m}}),
    t:p({removed, maps:without([mak_m, mak_b], M), maps:take(mak_z, M)}),
    t:p({merged, maps:merge(#{mak_w => 1, mak_a => 2}, M)}),
    t:p({written, #{mak_b => 1, mak_a => 2, mak_c => 3, mak_z => 4}}),
    t:p({replaced, M#{mak_y := new, mak_w := new}}),
    t:p({iterated, maps:fold(fun(K, _, A) -> [K | A] end, [], M)}),
    t:p({shrunk, lists:foldl(fun maps:remove/2, maps:merge(M, maps:from_keys(lists:seq(1, 40), n)),
                             lists:seq(1, 40))}),
    %% The first of the missing keys.
    t:pc(fun() -> (t:id(#{}))#{mak_a := 1, mak_z := 2} end),
    t:pc(fun() -> (t:id(#{}))#{mak_z := 1, mak_a := 2} end),
    compared(),
    t:p({deterministic, term_to_binary(M, [deterministic])}),
    t:p({ordinary, binary_to_term(term_to_binary(M)) =:= M}),
    t:p({hashed, erlang:phash2(M), erlang:phash2(#{mak_z => 1, mak_a => 2})}),
    t:p({printed, lists:flatten(io_lib:format("~p ~w", [M, #{mak_m => 1, mak_c => 2}]))}).

%% Keys first, in the order of their names, then values in that of their keys.
compared() ->
    Maps = [#{A => X, B => Y} || {A, B} <- [{mak_z, mak_m}, {mak_m, mak_a}, {mak_a, mak_z}],
                                 X <- [1, 2], Y <- [1, 1.0, 2]],
    t:p({sorted, lists:sort(Maps)}),
    t:p({less, [A < B || A <- Maps, B <- Maps]}),
    t:p({same, [A == B || A <- Maps, B <- Maps]}),
    t:p({mixed_less, #{1 => x, mak_z => 1, {} => 1} < #{1 => x, mak_a => 1, {} => 2},
         #{1.0 => x, mak_a => 1} < #{1 => x, mak_a => 1}}),
    T = ets:new(t, [ordered_set]),
    ets:insert(T, [{M} || M <- Maps]),
    t:p({in_table, ets:tab2list(T)}),
    t:p({numbers_of_atoms, #{mak_a => 1, 7 => 1} < #{mak_a => 1, mak_b => 1}}).
