%% since 29
%% is_integer/3, is_record/1, min/2 and max/2 in guards, bodies and match specifications, and
%% persistent_term:put_new/2 and erts_debug:unaligned_bitstring/2.
-module(since29_guards).
-export([main/0]).

main() ->
    Big = 1 bsl 70,
    Values = [0, 5, 10, -1, 11, 5.0, a, Big, -Big, [], "x"],
    Bounds = [{0, 10}, {10, 0}, {5, 5}, {-Big, Big}, {Big, Big}, {0.0, 10}, {0, a}, {a, 10}],
    [t:p({V, B}, {between(V, B), literal(V), t:c(fun() -> is_integer(V, element(1, B), element(2, B)) end)})
     || V <- Values, B <- Bounds],
    [t:p({A, B}, {smaller(A, B), larger(A, B), min(A, B), max(A, B)})
     || A <- [1, 1.0, a, "b", {}, Big], B <- [1, 1.0, 2, a, {}, -Big]],
    [t:p(V, {is_record(V), record(V)}) || V <- [a, {}, {a}, {a, 1}, #{}, []]],
    Calls = [{is_integer, '$1', 0, 10}, {is_integer, '$1', '$1', 10}, {is_integer, '$1', 0.0, 10}, {is_integer, '$1', 0, Big},
             {min, '$1', 3}, {max, '$1', 3.0}, {ceil, '$1'}, {floor, '$1'}, {is_boolean, '$1'}, {is_bitstring, '$1'},
             {tuple_size, '$1'}, {is_function, '$1', 1}, {is_function, '$1', -1}, {is_function, '$1', Big}, {is_function, '$1', a}],
    Terms = [0, 4, -3, 2.5, -2.5, true, a, {1, 2}, <<1:3>>, <<"b">>, fun(_) -> ok end, fun erlang:abs/1, Big],
    [t:p(C, [t:plain(ets:match_spec_run([{T}], ets:match_spec_compile([{{'$1'}, [], [C]}]))) || T <- Terms]) || C <- Calls],
    [t:p(C, [length(ets:match_spec_run([{T}], ets:match_spec_compile([{{'$1'}, [C], [x]}]))) || T <- Terms]) || C <- Calls],
    [t:p(C, t:c(fun() -> ets:match_spec_compile([{{'$1'}, [], [C]}]), ok end))
     || C <- [{is_integer, '$1', 1}, {min, '$1'}, {is_record, '$1'}, {ceil, '$1', 1}, {tuple_size}]],
    put_new(),
    [t:p({B, N}, t:c(fun() -> X = erts_debug:unaligned_bitstring(B, N), {X, X =:= B, erlang:phash2(X) =:= erlang:phash2(B)} end))
     || B <- [<<>>, <<1>>, <<1:3>>, <<"abc", 5:3>>, binary:copy(<<"0123456789">>, 8), <<(binary:copy(<<"xyz">>, 30))/binary, 1:1>>, a],
        N <- [0, 1, 3, 7, 8, a]],
    Long = binary:copy(<<"abcdefgh">>, 1000),
    t:p([begin X = erts_debug:unaligned_bitstring(Long, N), {X =:= Long, binary:part(X, 100, 10), byte_size(X)} end || N <- lists:seq(1, 7)]).

between(V, {Low, High}) when is_integer(V, Low, High) -> yes;
between(V, {Low, High}) when not is_integer(V, Low, High) -> no;
between(_, _) -> failed.

literal(V) when is_integer(V, 0, 10) -> small;
literal(V) when is_integer(V, -1000, -1) -> negative;
literal(_) -> other.

smaller(A, B) when min(A, B) =:= A -> first;
smaller(A, B) when min(A, B) =:= B -> second.

larger(A, B) when max(A, B) =:= A -> first;
larger(A, B) when max(A, B) =:= B -> second.

record(V) when is_record(V) -> yes;
record(_) -> no.

put_new() ->
    Key = {?MODULE, key},
    t:p([t:c(fun() -> persistent_term:put_new(Key, V) end) || V <- [1, 1, 1.0, 2]]),
    t:p(persistent_term:get(Key)),
    t:p(persistent_term:erase(Key)),
    t:p(t:c(fun() -> persistent_term:put_new(Key, [new]) end)),
    t:p(persistent_term:get(Key)).
