%% References to arrays of counters and atomics that go through bytes and text stand for the same array.
-module(magic_refs_kept).
-export([main/0]).

main() ->
    [begin
         C = counters:new(3, Options),
         D = binary_to_term(term_to_binary({x, [C]})),
         {x, [E]} = D,
         counters:add(E, 2, 5),
         t:p(Options, {counters:get(C, 2), E =:= C})
     end || Options <- [[atomics], [write_concurrency]]],
    A = atomics:new(2, []),
    B = binary_to_term(term_to_binary(A, [compressed])),
    atomics:put(B, 1, 7),
    t:p(atomics, {atomics:get(A, 1), atomics:info(B) =:= atomics:info(A)}),
    L = list_to_ref(ref_to_list(A)),
    t:pc(text, fun() -> atomics:add_get(L, 1, 1) end),
    T = ets:new(t, []),
    ets:insert(binary_to_term(term_to_binary(T)), {a, 1}),
    t:p(table, ets:tab2list(T)),
    t:pc(other, fun() -> counters:get(binary_to_term(term_to_binary(make_ref())), 1) end),
    %% The array is gone when nothing but the bytes are left of it.
    Bytes = gone(),
    erlang:garbage_collect(),
    t:pc(gone, fun() -> atomics:get(binary_to_term(Bytes), 1) end),
    [term_to_binary(atomics:new(1, [])) || _ <- lists:seq(1, 2000)],
    t:pc(many, fun() -> atomics:get(binary_to_term(term_to_binary(A)), 1) end).

gone() ->
    Me = self(),
    {_, M} = spawn_monitor(fun() -> Me ! {bytes, term_to_binary(atomics:new(1, []))} end),
    receive {'DOWN', M, process, _, _} -> ok end,
    receive {bytes, Bytes} -> Bytes end.
