%% Random match specifications over random objects, in ets and as functions.
-module(prop_match_specs).
-export([main/0]).
main() ->
    g:seed(12), Os = [list_to_tuple([g:int(20) | g:list(fun() -> g:term(1) end, 3)]) || _ <- lists:seq(1, 60)], Ts = [begin T = ets:new(t, [Y]), ets:insert(T, Os), T end || Y <- [set, ordered_set, bag, duplicate_bag]],
    g:digest(select, g:times(700, fun(_) -> M = spec(), {M, [r(fun() -> lists:sort(ets:select(T, M)) end) || T <- Ts]} end)), g:digest(test, g:times(700, fun(_) -> M = spec(), O = g:one(Os), {M, O, r(fun() -> ets:test_ms(O, M) end)} end)),
    g:digest(count, g:times(200, fun(_) -> [{P, G, _}] = spec(), {P, G, [r(fun() -> ets:select_count(T, [{P, G, [true]}]) end) || T <- Ts]} end)), g:digest(match, g:times(200, fun(_) -> [{P, _, _}] = spec(), {P, [r(fun() -> lists:sort(ets:match(T, P)) end) || T <- Ts]} end)).
r(F) -> try F() catch _:R -> R end.
spec() -> [{pattern(), [guard(2) || _ <- lists:seq(1, g:int(3))], [body(2)]}].
pattern() -> case g:int(12) of 0 -> '_'; 1 -> '$1'; _ -> list_to_tuple([pat() || _ <- lists:seq(1, 1 + g:int(3))]) end.
pat() ->
    case g:int(7) of 0 -> '_'; 1 -> '$1'; 2 -> '$2'; 3 -> '$3'; 4 -> g:int(20); 5 -> g:one([['$1' | '$2'], {'$1', '_'}, [], a, #{a => '$1'}]); 6 -> '$1' end.
body(0) -> g:one(['$1', '$2', '$_', '$$', 1, a, [], {}, {const, x}, <<1>>, 1.5]);
body(D) -> case g:int(4) of 0 -> {list_to_tuple(g:list(fun() -> body(D - 1) end, 3))}; 1 -> [body(D - 1) | body(D - 1)]; 2 -> guard(D - 1); 3 -> body(0) end.
guard(0) -> body(0);
guard(D) -> case g:int(5) of 0 -> {g:one([is_atom, is_integer, is_list, is_tuple, is_binary, is_map, is_number, is_float, 'not', abs, hd, tl, length, size, tuple_size, round, trunc, map_size, byte_size, float]), guard(D - 1)}; 1 -> {g:one(['=:=', '==', '<', '>', '>=', '=<', '=/=', '/=', '+', '-', '*', 'div', 'rem', 'band', 'bor', 'bxor', 'bsl', 'and', 'or', 'xor', '/']), guard(D - 1), guard(D - 1)}; 2 -> {g:one(['andalso', 'orelse', 'and', 'or']), guard(D - 1), guard(D - 1), guard(D - 1)}; 3 -> {element, guard(D - 1), guard(D - 1)}; 4 -> guard(0) end.
