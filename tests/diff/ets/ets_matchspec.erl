%% The match-spec language: all guards and body functions.
-module(ets_matchspec).
-export([main/0]).
main() ->
    Gs = [{is_atom, '$1'}, {is_integer, '$1'}, {is_float, '$1'}, {is_number, '$1'}, {is_list, '$1'}, {is_tuple, '$1'}, {is_binary, '$1'}, {is_map, '$1'}, {is_pid, '$1'}, {is_function, '$1'}, {is_record, '$1', r, 2}, {'==', '$1', 1.0}, {'=:=', '$1', 1}, {'/=', '$1', 1}, {'=/=', '$1', 1}, {'<', '$1', 5}, {'>=', '$1', a}, {'>', {length, '$1'}, 1}, {'==', {hd, '$1'}, 1}, {'==', {tl, '$1'}, [2]}, {'==', {element, 2, '$1'}, x}, {'>', {size, '$1'}, 1}, {'>', {tuple_size, '$1'}, 1}, {'>', {byte_size, '$1'}, 1}, {'==', {map_size, '$1'}, 1}, {is_map_key, k, '$1'}, {'==', {map_get, k, '$1'}, v}, {'or', {is_atom, '$1'}, {is_list, '$1'}}, {'orelse', {is_tuple, '$1'}, {'>', '$1', 3}}, {'and', true, {is_atom, '$1'}}, {'xor', {is_atom, '$1'}, true}, {'not', {is_atom, '$1'}}, {'==', {'+', '$1', 1}, 2}, {'==', {'*', '$1', 2}, 14}, {'==', {'div', '$1', 2}, 3}, {'==', {'rem', '$1', 2}, 1}, {'==', {'band', '$1', 3}, 3}, {'==', {'bsl', '$1', 1}, 2}, {'==', {abs, '$1'}, 3}, {'==', {round, '$1'}, 2}, {'==', {'-', '$1'}, 3}, foo, true, {const, true}],
    Vs = [1, 7, -3, 1.0, 1.6, a, b, [1, 2], [x, y, z], {r, x}, {r, x, y}, <<"bin">>, #{k => v}, self(), fun main/0, "s"],
    [t:p(G, t:c(fun() -> [V || V <- Vs, {ok, true} <- [run(V, G)]] end)) || G <- Gs],
    t:p([ets:test_ms({1, a, "l"}, [{{'$1', '$2', '$3'}, [], [B]}]) || B <- ['$1', '$$', '$_', {{'$2', '$1'}}, ['$1', '$2' | '$3'], #{k => '$1'}, {{}}, {element, 1, '$_'}, {size, '$_'}, {const, {'$1'}}, [[]], {'+', '$1', 1}, {self}, {node}, "str"], B =/= {self}]),
    [t:p(Bad, t:c(fun() -> ets:test_ms({1}, Bad) end)) || Bad <- [[], [x], [{{'$1'}, [], []}], [{{'$1'}, [{nofun, 1}], ['$1']}], [{{'$1'}, [], [{'$1'}]}], [{{'$1'}, [], ['$2']}], [{{'$1'}, bad, ['$1']}]]],
    t:p(ets:match_spec_run([{1}, {2}, {3}, x], ets:match_spec_compile([{{'$1'}, [{'>', '$1', 1}], ['$1']}]))), t:p(ets:is_compiled_ms(ets:match_spec_compile([{'_', [], [true]}]))).
run(V, G) -> case ets:test_ms({V}, [{{'$1'}, [G], [true]}]) of {ok, R} -> {ok, R}; _ -> error end.
