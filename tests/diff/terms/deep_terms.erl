%% Every constructor nested deeply, through every operation that walks a term.
%% `-run deep_terms main 10000000` goes as deep as memory allows.
-module(deep_terms).
-export([main/0, main/1]).

main() -> main(100000).

main([Depth]) -> main(list_to_integer(Depth)), halt();
main(Depth) ->
    [one(C, depth_of(C, Depth), Op) || C <- constructors(), Op <- operations()],
    ok.

one(C, Depth, Op) ->
    {Pid, Ref} = spawn_monitor(fun() -> exit({value, run(C, Depth, Op)}) end),
    Result = receive {'DOWN', Ref, process, Pid, {value, R}} -> R;
                     {'DOWN', Ref, process, Pid, Other} -> {died, Other} end,
    io:format("~p ~p ~P~n", [C, Op, Result, 20]).

run(C, Depth, ets_partly_bound) when Depth > 1000 -> run(C, 1000, ets_partly_bound);
run(C, Depth, Op) ->
    A = make(C, Depth, a), B = make(C, Depth, a), D = make(C, Depth, d),
    try op(Op, A, B, D) catch error:system_limit -> true end.

constructors() ->
    [head, tail, tuple, map_value, map_key, large_map_value, large_map_key, fun_environment].

depth_of(large_map_value, N) -> N div 40;
%% To order such maps takes OTP exponential time, and to make them quadratic time.
depth_of(large_map_key, N) -> N div 12500;
depth_of(_, N) -> N.

make(large_map_value, N, T) -> large(N, T, maps:from_list([{I, I} || I <- lists:seq(1, 40)]));
make(large_map_key, N, T) -> large_key(N, T, maps:from_list([{I, I} || I <- lists:seq(1, 40)]));
make(_, 0, T) -> T;
make(head, N, T) -> make(head, N - 1, [T]);
make(tail, N, T) -> make(tail, N - 1, [x | T]);
make(tuple, N, T) -> make(tuple, N - 1, {T});
make(map_value, N, T) -> make(map_value, N - 1, #{k => T});
make(map_key, N, T) -> make(map_key, N - 1, #{T => v});
make(fun_environment, N, T) -> make(fun_environment, N - 1, fun() -> T end).

large(0, T, _) -> T;
large(N, T, M) -> large(N - 1, M#{7 := T}, M).
large_key(0, T, _) -> T;
large_key(N, T, M) -> large_key(N - 1, M#{T => v}, M).

operations() ->
    [exact, equal, order, phash2, phash, internal_hash, map_key, large_map_key, key_of_maps,
     member, keyfind, subtract, sort, from_list, external, external_twice, deterministic,
     message, spawn_argument, exit_reason, error_reason, dictionary, persistent_term, flat_size,
     collect, ets_set, ets_bag, ets_ordered_set, ets_partly_bound, ets_pattern, ets_body,
     ets_select_replace, iolist, matching, compiled].

op(exact, A, B, D) -> A =:= B andalso A =/= D andalso not (A =:= D);
op(equal, A, B, D) -> A == B andalso A /= D andalso not (A == D);
op(order, A, B, D) -> A < D andalso D > A andalso A =< B andalso not (A < B);
op(phash2, A, B, D) ->
    erlang:phash2(A) =:= erlang:phash2(B) andalso erlang:phash2(A) =/= erlang:phash2(D);
op(phash, A, B, _) -> apply(erlang, phash, [A, 1 bsl 32]) =:= apply(erlang, phash, [B, 1 bsl 32]);
op(internal_hash, A, B, _) ->
    erts_internal:garbage_collect(major),
    M = maps:from_list([{{A, I}, I} || I <- lists:seq(1, 40)]),
    maps:get({B, 17}, M) =:= 17;
op(map_key, A, B, D) ->
    M = #{A => 1, D => 2, x => 3},
    maps:get(B, M) =:= 1 andalso map_size(M#{B => 4}) =:= 3 andalso map_size(maps:remove(B, M)) =:= 2;
op(large_map_key, A, B, D) ->
    M0 = maps:from_list([{I, I} || I <- lists:seq(1, 40)]),
    M = M0#{A => a, D => d},
    maps:get(B, M) =:= a andalso map_size(M#{B => b}) =:= 42
        andalso maps:remove(D, maps:remove(B, M)) =:= M0;
op(key_of_maps, A, B, D) ->
    M = maps:from_list([{I, I} || I <- lists:seq(1, 40)]),
    P = M#{{A, y} => a, {A, x} => b}, Q = M#{{B, x} => b, {B, y} => a}, R = M#{{D, x} => b, {A, y} => a},
    P =:= Q andalso P == Q andalso not (P < Q) andalso P =/= R andalso P < R
        andalso #{{P, 1} => 1} < #{{R, 0} => 1};
op(member, A, B, D) ->
    lists:member(A, [D, x, B]) andalso not lists:member(A, [D, x]);
op(keyfind, A, B, D) ->
    lists:keyfind(A, 1, [{D, 1}, {B, 2}]) =:= {B, 2} andalso lists:keymember(A, 1, [{D, 1}]) =:= false;
op(subtract, A, B, D) -> [D, A] -- [B] =:= [D];
op(sort, A, B, D) ->
    lists:usort([D, A, B]) =:= [A, D] andalso lists:max([A, D, B]) =:= D;
op(from_list, A, B, D) ->
    maps:from_list([{A, 1}, {D, 2}, {B, 3}]) =:= #{A => 3, D => 2};
op(external, A, B, _) -> is_function(A) orelse binary_to_term(term_to_binary(A)) =:= B;
op(external_twice, A, B, D) ->
    is_function(A) orelse
        map_size(binary_to_term(term_to_binary(#{A => 1, D => 1}))) =:= 2 andalso
        element(2, binary_to_term(term_to_binary({1, [B]}))) =:= [A];
op(deterministic, A, B, _) ->
    erlang:term_to_iovec(A) =:= erlang:term_to_iovec(B)
        andalso byte_size(term_to_binary(A, [compressed])) =:= byte_size(term_to_binary(B, [compressed]))
        andalso (is_function(A) orelse erlang:external_size(A) =:= byte_size(term_to_binary(A)));
op(message, A, B, _) ->
    Self = self(),
    Echo = spawn_link(fun() -> receive {T, P} -> P ! {self(), T} end end),
    Echo ! {A, Self},
    receive {Echo, B} -> true end;
op(spawn_argument, A, B, _) ->
    Self = self(),
    spawn_link(erlang, apply, [fun(T) -> Self ! {got, T} end, [A]]),
    receive {got, T} -> T =:= B end;
op(exit_reason, A, B, _) ->
    {_, Ref} = spawn_monitor(fun() -> exit(A) end),
    receive {'DOWN', Ref, process, _, R} -> R =:= B end;
op(error_reason, A, B, _) ->
    try error(A) catch error:T -> T =:= B end;
op(dictionary, A, B, D) ->
    put(A, 1), put(D, 2),
    {get(B), erase(D), get(D)} =:= {1, 2, undefined};
op(persistent_term, A, B, D) ->
    persistent_term:put({?MODULE, A}, D),
    R = persistent_term:get({?MODULE, B}) =:= D andalso persistent_term:get({?MODULE, D}, none) =:= none,
    persistent_term:erase({?MODULE, B}) andalso R;
op(flat_size, A, B, D) ->
    erts_debug:flat_size(A) =:= erts_debug:flat_size(B)
        andalso erts_debug:flat_size({A, B}) =:= 3 + 2 * erts_debug:flat_size(B);
op(collect, A, B, _) ->
    erlang:garbage_collect(), erlang:garbage_collect(self(), [{type, minor}]),
    A =:= B;
op(ets_set, A, B, D) ->
    T = ets:new(t, [set]),
    true = ets:insert(T, [{A, 1}, {D, 2}]),
    ets:lookup(T, B) =:= [{A, 1}] andalso ets:match_object(T, {'_', 2}) =:= [{D, 2}]
        andalso ets:delete(T, B) andalso ets:tab2list(T) =:= [{D, 2}];
op(ets_bag, A, B, D) ->
    T = ets:new(t, [bag]),
    true = ets:insert(T, [{x, A}, {x, D}]),
    true = ets:insert(T, {x, B}),
    true = ets:delete_object(T, {x, D}),
    ets:lookup(T, x) =:= [{x, B}];
op(ets_ordered_set, A, B, D) ->
    T = ets:new(t, [ordered_set]),
    true = ets:insert(T, [{D, 2}, {A, 1}]),
    ets:lookup(T, B) =:= [{A, 1}] andalso ets:next(T, B) =:= D andalso ets:prev(T, D) =:= B
        andalso ets:first(T) =:= B;
op(ets_partly_bound, A, B, D) ->
    %% OTP recurses here, and crashes where it is deeper than this test goes.
    T = ets:new(t, [ordered_set]),
    true = ets:insert(T, [{{D, 2}, x}, {{A, 1}, y}]),
    has_map(A) orelse ets:match(T, {{B, '$1'}, '_'}) =:= [[1]];
op(ets_pattern, A, B, D) ->
    T = ets:new(t, [set]),
    true = ets:insert(T, [{1, A}, {2, D}]),
    ets:match_object(T, {'_', B}) =:= [{1, A}];
op(ets_body, A, B, D) ->
    T = ets:new(t, [set]),
    true = ets:insert(T, [{1, A}, {2, D}]),
    ets:select(T, [{{'$1', '$2'}, [{'=:=', '$2', {const, B}}], [{{'$1', {const, B}}}]}]) =:= [{1, A}];
op(ets_select_replace, A, B, D) ->
    T = ets:new(t, [set]),
    true = ets:insert(T, [{{A, 1}, 1}, {{D, 1}, 2}]),
    Key = {B, 1},
    has_map(A) orelse ets:select_replace(T, [{{Key, '_'}, [], [{{{const, Key}, 3}}]}]) =:= 1;
op(iolist, A, _, _) ->
    try iolist_size(A) of 0 -> true catch error:badarg -> true end;
op(matching, A, B, D) ->
    case #{B => 1} of #{A := 1} -> true; #{D := 1} -> false; _ -> false end;
op(compiled, A, B, _) ->
    is_function(A) orelse begin
        Spec = ets:match_spec_compile([{{'$1', {const, x}}, [], [{const, A}]}]),
        ets:match_spec_run([{1, {const, x}}], Spec) =:= [B]
    end.

has_map(T) -> is_map(T).
