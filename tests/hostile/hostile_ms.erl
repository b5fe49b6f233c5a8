%% Match specifications that are damaged in one place or in several.
-module(hostile_ms).
-export([start/0, variant/0, run/2]).
-import(hostile, [below/1, pick/1]).

%% ---- what is done with one ----

start() ->
    [begin
         T = ets:new(t, [public, Type]),
         fill(T),
         {Type, T}
     end || Type <- [set, ordered_set, bag, duplicate_bag]].

rows() -> [{1, a}, {2, b, "cd"}, {{k}, #{a => 1, b => {2}}}, {a, 1.5, <<"bin">>}, {"list", [1, 2 | 3]}, {1 bsl 70, self()}, {b, {c, {d}}}].
fill(T) -> true = ets:insert(T, rows()).

run(Spec, Tables) ->
    {_, T} = pick(Tables),
    A = call(fun() -> ets:match_spec_compile(Spec) end),
    case A of
        {ok, C} -> {ok, _} = call(fun() -> ets:match_spec_run(rows(), C) end);
        error -> ok
    end,
    [call(fun() -> erlang:match_spec_test(Row, Spec, How) end) || Row <- [{1, a}, [1, {2}], x], How <- [table, trace]],
    B = call(fun() -> ets:select(T, Spec) end),
    true = (A =:= error) =:= (B =:= error) orelse Spec =:= [],
    case call(fun() -> ets:select(T, Spec, 1 + below(3)) end) of
        {ok, {_, Cont}} -> call(fun() -> ets:select(ets:repair_continuation(Cont, Spec)) end);
        _ -> ok
    end,
    call(fun() -> ets:select_reverse(T, Spec) end),
    call(fun() -> ets:select_count(T, Spec) end),
    case below(3) of
        0 -> call(fun() -> ets:select_replace(T, Spec) end);
        1 -> call(fun() -> ets:select_delete(T, Spec) end);
        2 -> call(fun() -> ets:match(T, of_first(Spec)), ets:match_object(T, of_first(Spec)), ets:match_delete(T, of_first(Spec)) end)
    end,
    true = ets:delete_all_objects(T),
    fill(T),
    case A of {ok, _} -> good; error -> bad end.

of_first([P | _]) when is_tuple(P), tuple_size(P) > 0 -> element(1, P);
of_first(S) -> S.

call(Fun) ->
    try {ok, Fun()}
    catch error:badarg -> error; error:system_limit -> error end.

%% ---- variants ----

variant() -> damaged(below(4), [clause() || _ <- lists:seq(1, 1 + below(2))]).

clause() -> {pattern(2), [expr(1 + below(3)) || _ <- lists:seq(1, below(3))], [body() || _ <- lists:seq(1, 1 + below(2))]}.

var() -> pick(['$1', '$2', '$3', '_', '$1', '$2', '$$', '$_', '$100000000', '$99999999999999999999', '$0', '$01']).
pattern(0) -> pick([var(), var(), '$1', a, 1, "cd", <<"bin">>, #{}, 1.5]);
pattern(D) ->
    case below(6) of
        0 -> pattern(0);
        1 -> #{pick([a, b, '$1', '_', {k}]) => pattern(D - 1)};
        2 -> [pattern(D - 1) | pattern(0)];
        _ -> list_to_tuple([pattern(D - 1) || _ <- lists:seq(1, 1 + below(3))])
    end.

body() -> case below(4) of 0 -> pick(['$_', '$$', '$1', true, {message, '$_'}, {message, false}, {return_trace}, {exception_trace}, {silent, true}]); _ -> expr(1 + below(4)) end.

expr(0) ->
    pick([var(), var(), '$1', '$2', '$_', '$$', true, false, a, 0, 1, -1, 1.5, 1 bsl 70, [], {const, {a}}, {{}}, {const, '$1'}, {self}, {node}, <<"x">>, #{}, 64, 1 bsl 24, -(1 bsl 60)]);
expr(D) ->
    case below(8) of
        0 -> expr(0);
        1 -> {list_to_tuple([expr(D - 1) || _ <- lists:seq(1, below(4))])};
        2 -> [expr(D - 1), expr(0)];
        3 -> #{expr(0) => expr(D - 1)};
        4 -> list_to_tuple([name() | [expr(D - 1) || _ <- lists:seq(1, below(4))]]);
        _ -> {F, A} = pick(functions()), list_to_tuple([F | [expr(D - 1) || _ <- lists:seq(1, A)]])
    end.

name() -> element(1, pick(functions())).

functions() ->
    {{is_atom, 1}, {is_float, 1}, {is_integer, 1}, {is_list, 1}, {is_number, 1}, {is_pid, 1}, {is_port, 1}, {is_reference, 1}, {is_tuple, 1},
     {is_map, 1}, {is_map_key, 2}, {map_size, 1}, {map_get, 2}, {is_binary, 1}, {is_function, 1}, {is_function, 2}, {is_record, 2}, {is_record, 3},
     {'and', 2}, {'or', 2}, {'xor', 2}, {'not', 1}, {'andalso', 2}, {'andalso', 3}, {'orelse', 2}, {'orelse', 1}, {abs, 1}, {element, 2}, {hd, 1}, {tl, 1},
     {length, 1}, {node, 1}, {node, 0}, {round, 1}, {size, 1}, {byte_size, 1}, {bit_size, 1}, {tuple_size, 1}, {trunc, 1}, {floor, 1}, {ceil, 1}, {float, 1},
     {binary_part, 3}, {'+', 1}, {'-', 1}, {'+', 2}, {'-', 2}, {'*', 2}, {'/', 2}, {'div', 2}, {'rem', 2}, {'band', 2}, {'bor', 2}, {'bxor', 2}, {'bnot', 1},
     {'bsl', 2}, {'bsr', 2}, {'>', 2}, {'>=', 2}, {'<', 2}, {'=<', 2}, {'=:=', 2}, {'==', 2}, {'=/=', 2}, {'/=', 2}, {self, 0}, {get_tcw, 0}, {set_tcw, 1},
     {min, 2}, {max, 2}, {const, 1}, {process_dump, 0}, {caller, 0}, {get_seq_token, 0}, {is_seq_trace, 0}, {set_seq_token, 2}, {nosuch, 1}, {silent, 1}, {is_boolean, 1}, {is_bitstring, 1}}.

damaged(0, S) -> S;
damaged(N, S) -> damaged(N - 1, damage(S)).

%% One place somewhere within, which may be the whole.
damage(T) when is_tuple(T), tuple_size(T) > 0 ->
    case below(5) of
        0 -> other(T);
        1 -> erlang:delete_element(1 + below(tuple_size(T)), T);
        2 -> erlang:insert_element(1 + below(tuple_size(T) + 1), T, other(T));
        _ -> I = 1 + below(tuple_size(T)), setelement(I, T, damage(element(I, T)))
    end;
damage([H | T]) ->
    case below(9) of
        0 -> other([]);
        1 -> T;
        2 -> [H, H | T];
        3 -> [H | other(T)];
        4 -> [H | damage(T)];
        _ -> [damage(H) | T]
    end;
damage(M) when is_map(M), map_size(M) > 0 ->
    [{K, V} | R] = maps:to_list(M),
    maps:from_list([{damage(K), damage(V)} | R]);
damage(X) -> other(X).

other(X) ->
    case below(9) of
        0 -> expr(2);
        1 -> pattern(2);
        2 -> var();
        3 -> [X | X];
        4 -> {X};
        5 -> {{X}};
        6 -> pick([[], {}, a, 1, self(), make_ref(), fun lists:map/2, fun() -> X end, <<1:3>>, binary:copy(<<"x">>, 100)]);
        7 -> lists:foldl(fun(_, A) -> pick([{'+', A, 1}, [A], {{A}}, {'not', A}]) end, X, lists:seq(1, 1 + below(300)));
        8 -> list_to_tuple(lists:duplicate(below(300), X))
    end.
