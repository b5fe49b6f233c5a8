%% since 27
%% 0.0 and -0.0: equal to ==, different to =:=, to matching and as keys.
-module(since27_zeros).
-export([main/0]).

main() ->
    [P, M] = t:id([0.0, -0.0]),
    operators(P, M),
    matching(P, M),
    negation(P, M),
    lists_of(P, M),
    maps_of(P, M),
    tables(P, M),
    stores(P, M),
    representation(P, M).

operators(P, M) ->
    [t:p({A, B}, {A =:= B, A =/= B, A == B, A /= B, A < B, A > B, A =< B, min(A, B), max(A, B), g(A, B),
                  erts_internal:cmp_term(A, B)})
     || A <- [P, M, 0, 1.0], B <- [P, M, 0]],
    [t:p(nested, {[A] =:= [B], {A} =:= {B}, {1, {A}} == {1, {B}}, #{a => A} =:= #{a => B}, #{A => 1} == #{B => 1},
                  [1, [{x, A}, 2]] =:= [1, [{x, B}, 2]], #{A => 1} < #{B => 1}, #{A => 1} > #{B => 1},
                  {#{A => 1}} =:= {#{B => 1}}, (fun() -> A end) =:= (fun() -> B end)})
     || A <- [P, M], B <- [P, M]].

g(A, B) when A =:= B -> exact;
g(A, B) when A == B -> equal;
g(_, _) -> differ.

matching(P, M) ->
    [t:p(matched, {head(X), literal(X), tuple({a, X}), in_list([X, b]), guard(X), keep(X)}) || X <- [P, M, 0, 1.0]],
    [t:p(bound, {A, B, t:c(fun() -> A = B end), bound(A, {B})}) || A <- [P, M], B <- [P, M]].

head(+0.0) -> plus;
head(-0.0) -> minus;
head(_) -> other.

literal(X) ->
    case {t:id(k), X} of
        {k, -0.0} -> minus;
        {k, +0.0} -> plus;
        _ -> other
    end.

tuple({a, -0.0}) -> minus;
tuple({a, +0.0}) -> plus;
tuple(_) -> other.

in_list([+0.0 | _]) -> plus;
in_list([-0.0 | _]) -> minus;
in_list(_) -> other.

guard(X) when X =:= -0.0 -> minus;
guard(X) when X =:= +0.0 -> plus;
guard(X) when X == 0 -> zero;
guard(_) -> other.

keep(X) -> [Y || Y <- [-0.0, +0.0, 0], Y =:= X].

bound(A, {A}) -> same;
bound(_, _) -> other.

negation(P, M) ->
    [t:p(negated, {-X, abs(X), 0 - X, 0.0 - X, X * -1, X + 0, X + 0.0, +X, apply(t:id(erlang), '-', [X]), float(X)})
     || X <- [P, M, 0, 2.5, -2.5]],
    [t:p(floats, {minus(X), sum(X), scaled(X)}) || X <- [P, M, 2.5, -2.5]],
    [t:p(integers, of_integer(X)) || X <- [0, 3, -3, 1 bsl 70, -(1 bsl 70)]],
    [t:p(whole, {trunc(X), round(X), ceil(X), floor(X), math:ceil(X), math:floor(X), math:sqrt(X)})
     || X <- [P, M]],
    t:p(made, {-0.4 * 0, list_to_float("-0.0"), binary_to_float(<<"-0.0">>), math:ceil(-0.5), 1 / -1.0e308 / 1.0e308}).

minus(X) when is_float(X) -> -X.
sum(X) when is_float(X) -> (-X) + (-X).
scaled(X) when is_float(X) -> {-(X * 1.5), -(-(X * 1.5))}.

of_integer(X) when is_integer(X) -> {-X * 1.0, -(X * 1.0), (-X) / 2, -(X / 2), float(-X), -float(X)}.

lists_of(P, M) ->
    L = [P, M, 0, P],
    t:p([lists:member(M, [P]), lists:member(P, [M, P]), lists:delete(M, L), L -- [M], [M] -- [P], L -- [P, P],
         lists:keyfind(M, 1, [{P, a}]), lists:keymember(P, 1, [{M, b}]), lists:usort(L), lists:sort([M, P]),
         lists:sort([P, M]), lists:uniq(L), lists:search(fun(X) -> X =:= M end, L), lists:max([P, M]),
         lists:keystore(M, 1, [{P, a}], {M, b}), proplists:get_value(M, [{P, a}])]),
    t:p([ordsets:from_list(L), ordsets:is_element(M, [P]), sets:is_element(M, sets:from_list([P])),
         sets:is_element(M, sets:from_list([P], [{version, 2}])), gb_sets:is_element(M, gb_sets:from_list([P])),
         orddict:find(M, [{P, a}]), gb_trees:lookup(M, gb_trees:from_orddict([{P, a}]))]).

maps_of(P, M) ->
    [begin
         Map = maps:from_list([{X, X} || X <- Others] ++ [{P, plus}, {M, minus}]),
         t:p(size, {maps:size(Map), maps:get(P, Map), maps:get(M, Map), maps:find(0, Map), is_map_key(M, Map),
                    is_map_key(M, maps:remove(M, Map)), maps:get(P, maps:remove(M, Map)),
                    maps:size(maps:put(M, new, Map)), maps:size(Map#{P => new, M => new}),
                    maps:size(maps:merge(#{M => 1}, maps:remove(M, Map))), field(Map),
                    maps:intersect(#{M => 1}, #{P => 1}), Map =:= maps:from_list(lists:reverse(maps:to_list(Map))),
                    t:c(fun() -> maps:update(M, 1, maps:remove(M, Map)) end), maps:take(M, Map) =:= error})
     end
     || Others <- [[], [a], lists:seq(1, 30), lists:seq(1, 31), lists:seq(1, 100)]],
    t:p([maps:keys(#{P => 1, M => 2}), maps:to_list(#{{P} => 1, {M} => 2}), #{[M] => 1, [P] => 2},
         maps:groups_from_list(fun(X) -> X end, [P, M, P])]),
    Deep = maps:from_list([{{X, P}, plus} || X <- lists:seq(1, 50)] ++ [{{X, M}, minus} || X <- lists:seq(1, 50)]),
    t:p(deep, {maps:size(Deep), [{maps:get({X, P}, Deep), maps:get({X, M}, Deep)} || X <- [1, 25, 50]],
               Deep =:= maps:map(fun(_, V) -> V end, Deep), Deep == Deep#{{1, M} => plus}}).

field(#{-0.0 := M, +0.0 := P}) -> {P, M};
field(_) -> none.

tables(P, M) ->
    [begin
         T = ets:new(t, [Type, public]),
         true = ets:insert(T, [{P, plus}, {M, minus}, {0, zero}]),
         t:p(Type, {ets:info(T, size), ets:lookup(T, P), ets:lookup(T, M), ets:member(T, M),
                    lists:sort(ets:match(T, {M, '$1'})), lists:sort(ets:match_object(T, {'_', minus})),
                    lists:sort(ets:select(T, [{{'$1', '$2'}, [{'=:=', '$1', M}], ['$2']}])),
                    lists:sort(ets:select(T, [{{'$1', '$2'}, [{'==', '$1', M}], ['$2']}])),
                    lists:sort(ets:select(T, [{{P, '$2'}, [], ['$2']}])),
                    lists:sort(ets:select(T, [{{'$1', '$2'}, [{'=/=', '$1', {const, P}}], ['$2']}])),
                    ets:insert_new(T, {M, again}), ets:take(T, M), ets:info(T, size)}),
         true = ets:insert(T, [{k, P}, {k, M}]),
         true = ets:delete_object(T, {k, P}),
         t:p(Type, {ets:lookup(T, k), ets:select_delete(T, [{{'_', M}, [], [true]}])}),
         ets:delete(T)
     end
     || Type <- [set, ordered_set, bag, duplicate_bag]],
    t:p([erlang:match_spec_test({X}, [{{Y}, [], [true]}], table) || X <- [P, M], Y <- [P, M]]),
    t:p([erlang:match_spec_test({X, Y}, [{{'$1', '$1'}, [], ['$1']}], table) || X <- [P, M], Y <- [P, M]]),
    t:p([erlang:match_spec_test([X], [{['$1'], [], [{{{abs, '$1'}, {'-', '$1'}}}]}], trace) || X <- [P, M]]).

stores(P, M) ->
    put(P, plus),
    put(M, minus),
    t:p([get(P), get(M), erase(M), get(P), get_keys(minus)]),
    persistent_term:put({?MODULE, P}, plus),
    persistent_term:put({?MODULE, M}, minus),
    t:p([persistent_term:get({?MODULE, X}) || X <- [P, M]]).

representation(P, M) ->
    [t:p(shown, {X, float_to_list(X), float_to_binary(X, [short]), float_to_list(X, [{decimals, 2}]),
                 float_to_list(X, [{scientific, 3}]), io_lib:format("~w ~g ~.2f ~e", [X, X, X, X]),
                 erlang:phash2(X), erlang:phash2({X}), erlang:phash(X, 1000), term_to_binary(X),
                 term_to_binary(X, [{minor_version, 0}]), binary_to_term(term_to_binary(X)) =:= X,
                 <<X/float>>, <<X:32/float>>, <<X:16/float>>, erlang:external_size(X)})
     || X <- [P, M]],
    <<A/float>> = <<1:1, 0:63>>,
    <<B:32/float>> = <<1:1, 0:31>>,
    <<C:16/float>> = t:id(<<1:1, 0:15>>),
    t:p([A =:= M, B =:= M, C =:= M, A =:= P]),
    t:p([binary_to_term(<<131, 99, (list_to_binary(Text))/binary, 0:((31 - length(Text)) * 8)>>) =:= M
         || Text <- ["-0.00000000000000000000e+00", "0.00000000000000000000e+00"]]).
