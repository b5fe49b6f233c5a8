%% Guards that fail in the middle, with alternatives, on maps, binaries and records.
-module(guard_more).
-export([main/0]).
-record(r, {a, b = 2}).
main() ->
    Vs = [0, 1, -1, 1.0, a, [], [1], [1 | 2], {}, {a}, {r, 1, 2}, {r, 1}, #{}, #{a => 1}, #{a => b}, <<>>, <<1>>, <<1:3>>, fun erlang:abs/1, true, false, 1 bsl 70, "str", {1, 2, 3}],
    [t:p(V, [F(V) || F <- fs()]) || V <- Vs],
    [t:p({A, B}, two(A, B)) || A <- [1, a, true, false, 0, 2.5], B <- [1, true, false, 0, {x}]].

fs() ->
    [fun(X) when hd(X) =:= 1; element(1, X) =:= a; map_get(a, X) =:= 1 -> y; (_) -> n end,
     fun(X) when length(X) > 0 orelse tuple_size(X) > 0 -> y; (_) -> n end,
     fun(X) when is_list(X) andalso length(X) > 0 orelse is_tuple(X) andalso tuple_size(X) > 0 -> y; (_) -> n end,
     fun(X) when X + 1 > 1 -> pos; (X) when X - 1 < 0 -> neg; (_) -> n end,
     fun(X) when is_record(X, r) -> r; (X) when is_record(X, r, 2) -> r2; (_) -> n end,
     fun(#r{a = A, b = B}) when A < B -> lt; (#r{}) -> ge; (_) -> n end,
     fun(X) when map_size(X) =:= 1, is_map_key(a, X) -> m; (X) when is_map(X) -> map; (_) -> n end,
     fun(X) when bit_size(X) rem 8 =/= 0 -> odd; (X) when byte_size(X) > 0 -> b; (X) when is_binary(X) -> e; (_) -> n end,
     fun(X) when not X -> no; (X) when X -> yes; (_) -> n end,
     fun(X) when abs(X) =:= 1; round(X) =:= 0 -> y; (X) when trunc(X) bsr 60 > 0 -> big; (_) -> n end,
     fun(X) when is_function(X, 1) -> f1; (X) when is_function(X) -> f; (X) when is_atom(X), X > b -> after_b; (_) -> n end,
     fun(X) when X =:= 1 -> e; (X) when X == 1 -> eq; (X) when X =/= a, X /= 0, X < {} -> lt; (_) -> n end,
     fun(X) when (X =:= a) xor is_integer(X) -> xo; (X) when (is_list(X) and not (X =:= [])) or is_float(X) -> lf; (_) -> n end,
     fun(X) when node(X) =:= node() -> y; (X) when self() =:= X -> s; (_) -> n end,
     fun(X) when X band 1 =:= 1; X div 0 =:= 1 -> odd; (X) when X bxor 1 =:= 1 -> even; (_) -> n end,
     fun(X) when is_number(X), X >= 0, X =< 1 -> unit; (X) when is_boolean(X); X =:= [] -> bn; (X) when X =< b, X >= a -> ab; (_) -> n end,
     fun([X | _]) when is_integer(X) -> h; ({X}) when is_atom(X) -> t1; (#{a := X}) when X > 0 -> mp; (<<X, _/bits>>) when X > 0 -> bn; (_) -> n end].

two(A, B) when A andalso B -> and_;
two(A, B) when A orelse B -> or_;
two(A, B) when A > B, B > 0; A =:= B -> gt;
two(A, B) when (A + B) * 2 > 3 -> sum;
two(A, _) when is_float(A) -> fl;
two(_, {X}) when X =:= x -> tup;
two(_, _) -> none.
