%% Tuples: BIFs, large tuples, updates, nesting.
-module(tuples).
-export([main/0]).
main() ->
    t:p(element(2, {a, b, c})), t:p(setelement(2, {a, b, c}, x)), t:p(tuple_size({})), t:p(erlang:append_element({a}, b)), t:p(erlang:insert_element(1, {a, b}, x)), t:p(erlang:insert_element(3, {a, b}, x)), t:p(erlang:delete_element(2, {a, b, c})), t:p(erlang:make_tuple(3, z)), t:p(erlang:make_tuple(4, z, [{2, b}, {4, d}])), T = erlang:make_tuple(10000, 0), t:p(tuple_size(T)), T2 = setelement(5000, T, mid), t:p({element(5000, T2), element(5000, T)}), t:p(T2 =:= setelement(5000, T, mid)), t:p(T2 > T), t:p(lists:sum(tuple_to_list(list_to_tuple(lists:seq(1, 1000))))),
    {A, {B, [C | _], #{k := D}}, "lit", <<E, _/binary>>} = t:id({1, {2, [3, 4], #{k => 5}}, "lit", <<6, 7>>}), t:p({A, B, C, D, E}), t:p([kind(X) || X <- [{}, {a}, {a, b}, {c, 1}, {c, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}]]),
    [t:pc(F) || F <- [fun() -> element(t:id(0), {a}) end, fun() -> element(t:id(1), t:id(a)) end, fun() -> element(t:id(1 bsl 70), {a}) end, fun() -> element(t:id(1.0), {a}) end, fun() -> setelement(t:id(2), {a}, x) end, fun() -> erlang:make_tuple(t:id(-1), a) end, fun() -> erlang:insert_element(t:id(5), {a}, x) end, fun() -> erlang:delete_element(t:id(1), t:id({})) end, fun() -> erlang:make_tuple(2, a, [{t:id(3), x}]) end, fun() -> tuple_to_list(t:id(a)) end, fun() -> erlang:make_tuple(t:id(1 bsl 25), x) end]].
kind({}) -> zero; kind({a}) -> one_a; kind({a, X}) -> {two, X}; kind({c, X}) -> {c, X}; kind({c, _, _}) -> c3; kind(T) when tuple_size(T) > 5 -> {large, element(10, T)}.
