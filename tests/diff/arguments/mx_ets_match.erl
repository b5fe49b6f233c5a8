%% Patterns and match specifications that are none.
-module(mx_ets_match).
-export([main/0]).
main() ->
    T = ets:new(t, [public]), ets:insert(T, [{1, a}, {2, b}, {3, {a, [x]}}]),
    Ps = ['_', '$1', {'$1', '$2'}, {'_', a}, {1, '_'}, {}, a, [], {'$1', '$1'}, #{}, {'$1', #{a => '$2'}}, {'$1', [x]}, {'$01', '$x'}],
    m:fs(ets, [match, match_object, match_delete], [[T, nope], Ps]), ets:insert(T, [{1, a}, {2, b}]),
    m:fs(ets, [match, match_object], [[T], Ps, [1, 0, -1, a, 100]]),
    Ms = [[], a, [a], [{a, b}], [{{'$1', '_'}, [], ['$1']}], [{'$1', [], ['$_']}], [{{'$1', '_'}, [{'>', '$1', 1}], ['$$']}], [{{'$1', '_'}, [bad], ['$1']}], [{{'$1', '_'}, [], '$1'}], [{{'$1', '_'}, [{nofun, '$1'}], ['$1']}], [{{'$1', '_'}, [{'+', '$1'}], ['$1']}], [{{'$1', '_'}, [], [{{'$1', '$2'}}]}], [{{'$1', '_'}, [], []}], [{{'$1', '_'}, [{'+', '$1', a}], [true]}], [{{'$1', '_'}, [], [{'+', '$1', a}]}], [{{'$1', '_'}, [], [{const, {'$1'}}]}], [{{'$1', '_'}, [], [{'$1'}]}], [{{'$1', '_'}, [], [#{k => '$1'}]}], [{'_', [], [true]} | a]],
    m:fs(ets, [select, select_count, select_reverse, select_delete, select_replace, match_spec_run], [[T, nope], Ms]), m:f(ets, select, [[T], Ms, [1, 0, a]]),
    m:fs(ets, [test_ms], [[{1, a}, a, {}, {1}], Ms]), m:f(ets, is_compiled_ms, [[a, make_ref(), ets:match_spec_compile([{'_', [], ['$_']}])]]),
    m:f(erlang, match_spec_test, [[{1, a}, [1, a], a], Ms, [table, trace, bad]]), m:f(ets, repair_continuation, [[a, '$end_of_table', {a, b}], Ms]).
