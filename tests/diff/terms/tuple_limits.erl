%% Sizes and indexes that no tuple has, as constants in the code.
-module(tuple_limits).
-export([main/0]).

main() ->
    Ts = [{}, {a}, {a, b, c}, x, [], list_to_tuple(lists:seq(1, 300))],
    [io:format("~p: ~p~n", [N, [catch_class(F, T) || T <- Ts]]) || {N, F} <- tests()].

catch_class(F, T) -> try F(T) catch C:E -> {C, E} end.

tests() ->
    [{size_24, fun size_24/1}, {size_27, fun size_27/1}, {size_59, fun size_59/1}, {select, fun select/1},
     {element_24, fun(T) -> element(16777215, T) end}, {element_27, fun(T) -> element(134217728, T) end},
     {element_59, fun(T) -> element(576460752303423487, T) end}, {guard, fun guard/1},
     {set, fun set/1}, {set_twice, fun set_twice/1}, {set_literal, fun set_literal/1}].

size_24(T) when tuple_size(T) =:= 16777215 -> element(16777214, T);
size_24(_) -> other.
size_27(T) when tuple_size(T) =:= 134217728 -> element(3, T);
size_27(_) -> other.
size_59(T) when tuple_size(T) =:= 576460752303423487 -> element(3, T);
size_59(_) -> other.

select(T) ->
    case tuple_size(T) of
        0 -> none;
        3 -> element(3, T);
        16777215 -> {large, element(2, T)};
        134217731 -> {larger, element(3, T)};
        4294967299 -> {largest, element(3, T)};
        N -> N
    end.

guard(T) when element(134217728, T) =:= a -> yes;
guard(T) when element(3, T) =:= c -> c;
guard(_) -> no.

set(T) -> setelement(134217728, T, x).
set_twice(T) -> setelement(134217728, setelement(576460752303423488, setelement(1, T, y), T), z).
set_literal(V) -> setelement(134217728, setelement(576460752303423488, setelement(1, {1, #{k => V}}, V), <<1>>), V).
