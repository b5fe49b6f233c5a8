%% Property lists: lookups, expansions, substitutions, splits, normal forms.
-module(lib_proplists).
-export([main/0]).
main() ->
    L = [a, {b, 1}, {c, x, y}, {b, 2}, {a, false}, "s", 5, {d}, {e, [1]}], Ls = [L, [], [a | b], [{a, true}], x],
    m:fs(proplists, [get_value, get_bool, lookup, is_defined, delete, get_all_values, append_values, lookup_all], [[a, b, c, d, e, z, 5, "s"], Ls]),
    m:f(proplists, get_value, [[a, b, z], Ls, [dflt]]),
    m:fs(proplists, [compact, unfold, get_keys, to_map], [Ls]),
    m:f(proplists, split, [Ls, [[a, b], [], [z], x]]),
    t:p(proplists:expand([{a, [a1, a2]}, {{b, 1}, [b1]}, {z, []}], L)),
    t:p(proplists:substitute_aliases([{b, bb}, {z, zz}], L)),
    t:p(proplists:substitute_negations([{a, no_a}, {no_b, b}], [a, {a, false}, no_b, {no_b, false}, {no_b, 7}])),
    t:p(proplists:normalize(L, [{aliases, [{b, bb}]}, {expand, [{a, [q]}]}, {negations, [{d, no_d}]}])),
    t:p([proplists:property(P) || P <- [{a, true}, {a, 1}, a, {a, 1, 2}]]),
    t:p(proplists:property(a, true)),
    t:p(proplists:from_map(#{a => true, b => 1})),
    t:pc(fun() -> proplists:to_map(L, [{aliases, [{b, bb}]}]) end).
