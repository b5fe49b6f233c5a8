%% persistent_term: replacing, erasing while others hold, keys of all kinds, copies, info.
-module(persist_more).
-export([main/0]).
main() ->
    Ks = [a, {b, 1}, "list", <<"bin">>, 1.0, 1, #{m => 1}, [], {}, 1 bsl 70, self()], [persistent_term:put({?MODULE, K}, {val, K}) || K <- Ks],
    t:p([t:plain(persistent_term:get({?MODULE, K})) || K <- Ks]),
    t:p([persistent_term:get({?MODULE, K}, dflt) || K <- [2, 2.0, [[]]]]),
    t:p([persistent_term:erase({?MODULE, K}) || K <- [a, a, 1.0, nope]]),
    t:p([persistent_term:get({?MODULE, K}, gone) || K <- [a, 1, 1.0]]), #{count := C0, memory := M0} = persistent_term:info(), persistent_term:put(px, lists:seq(1, 1000)), #{count := C1, memory := M1} = persistent_term:info(),
    t:p({C1 - C0, M1 - M0 > 1000}), S = self(), P = spawn(fun() -> V = persistent_term:get(px), S ! got,
    receive check -> S ! {sum, lists:sum(V)} end end),
    receive got -> ok end, persistent_term:put(px, other),
    t:p(persistent_term:get(px)), P ! check,
    t:p(receive {sum, X} -> X end), Held = persistent_term:get({?MODULE, "list"}),
    t:p(persistent_term:erase({?MODULE, "list"})), garbage_collect(),
    t:p(Held), persistent_term:put(same, {x, [1, 2]}), A = persistent_term:get(same), persistent_term:put(same, {x, [1, 2]}),
    t:p([A =:= persistent_term:get(same), erts_debug:same(A, persistent_term:get(same))]),
    t:p([{K, t:plain(V)} || {{?MODULE, K}, V} <- lists:sort(persistent_term:get()), not is_pid(K)]), F = fun(Y) -> Y + length(element(2, A)) end, persistent_term:put(f, F),
    t:p((persistent_term:get(f))(1)), T = ets:new(t, []), ets:insert(T, {k, persistent_term:get(f)}), persistent_term:erase(f), garbage_collect(),
    t:p((ets:lookup_element(T, k, 2))(2)), persistent_term:put(big, maps:from_list([{I, {I}} || I <- lists:seq(1, 100)])), M = persistent_term:get(big),
    t:p([maps:get(50, M), map_size(M#{x => y}), map_size(persistent_term:get(big))]), B = persistent_term:put(bin, binary:copy(<<"q">>, 100)),
    t:p({B, byte_size(persistent_term:get(bin))}),
    m:fs(persistent_term, [get, erase], [[no_such_key_1, {x}]]), self() ! persistent_term:get(big), persistent_term:erase(big),
    t:p(receive Z -> map_size(Z) end).
