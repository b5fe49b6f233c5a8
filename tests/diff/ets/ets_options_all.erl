%% Options of new tables, good and bad, and what info says of each.
-module(ets_options_all).
-export([main/0]).
main() ->
    Os = [[], [set], [bag], [duplicate_bag], [ordered_set], [named_table], [public], [private], [protected], [{keypos, 2}], [{keypos, 0}], [{keypos, a}], [{heir, none}], [{heir, self(), d}], [{heir, a, b}], [{heir, self()}], [{write_concurrency, true}], [{write_concurrency, auto}], [{write_concurrency, x}], [{read_concurrency, true}], [{decentralized_counters, true}], [{write_concurrency, true}, ordered_set], [compressed], [set, bag], [bag, set], [bad], [{bad, 1}], [{keypos, 1 bsl 30}], bad, [a | b], [public, private, {keypos, 3}, {keypos, 1}], [{write_concurrency, auto}, {decentralized_counters, false}]],
    [t:p(O, t:c(fun() -> T = ets:new(nm, O), R = [{K, case ets:info(T, K) of P when is_pid(P) -> P =:= self(); V -> V end} || K <- [type, keypos, protection, heir, write_concurrency, read_concurrency, decentralized_counters, compressed, named_table, name, size, fixed, owner, node]], ets:delete(T), R end)) || O <- Os], [t:pc(N, fun() -> ets:new(N, []) end) || N <- ["a", 1, {}]],
    t:p(lists:sort([K || {K, _} <- ets:info(ets:new(x, []))])), T = ets:new(x, [named_table]),
    t:pc(fun() -> ets:new(x, [named_table]) end),
    t:p(ets:rename(x, y)),
    t:p([ets:info(x), ets:whereis(x), is_reference(ets:whereis(y)), ets:info(y, name)]),
    t:p(t:plain(T)),
    t:pc(fun() -> ets:rename(y, 1) end), ets:new(z, [named_table]),
    t:pc(fun() -> ets:rename(y, z) end),
    t:pc(fun() -> ets:rename(y, y) end), U = ets:new(x, []),
    t:p(ets:rename(U, newname)),
    t:p(ets:info(U, name)), [t:pc(O, fun() -> ets:setopts(U, O) end) || O <- [{heir, self(), x}, {heir, none}, [{heir, none}], bad, [bad], [], {heir, none, x}, [{heir, self(), 1}, {heir, none}], {protection, public}]],
    t:pc(fun() -> ets:info(U, bad) end),
    t:p(ets:info(gone)),
    t:pc(fun() -> ets:info(make_ref()) end),
    t:pc(fun() -> ets:info(1) end),
    t:p(is_integer(ets:info(U, memory))),
    t:p(ets:info(U, id) =:= U),
    t:p(lists:member(U, ets:all())), ets:delete(U),
    t:p(lists:member(U, ets:all())),
    t:p([ets:info(U, I) || I <- [size, bad]]).
