%% Flat maps: building, updating, matching, errors.
-module(map_small).
-export([main/0]).
main() ->
    M = t:id(#{a => 1, "b" => 2, 3.0 => c, {x} => [y], <<"k">> => #{n => 1}}),
    t:p(M), t:p(map_size(M)), t:p(maps:keys(M)), t:p(maps:values(M)), t:p(maps:to_list(M)),
    t:p(M#{a := 10, new => 5}),
    t:pc(fun() -> M#{nokey := 1} end),
    t:pc(fun() -> (t:id(foo))#{a => 1} end),
    t:pc(fun() -> (t:id([]))#{a := 1} end),
    #{a := A, "b" := B} = M, t:p({A, B}),
    t:pc(fun() -> #{zz := Z} = t:id(M), Z end),
    t:p([k(X) || X <- [#{}, #{t => 1}, #{t => 2, u => 3}, #{t => 1, u => 1}, foo, #{1 => 2}]]),
    K = t:id({x}), #{K := V} = M, t:p(V),
    t:p(#{1 => a, 1.0 => b}), t:p(#{a => 1, a => 2}),
    t:p(M#{<<"k">> => (maps:get(<<"k">>, M))#{n := 2, m => 3}}),
    t:p({#{a => 1} =:= #{a => 1}, #{a => 1} == #{a => 1.0}, #{a => 1} =:= #{a => 1.0}, #{1 => a} == #{1.0 => a}}),
    t:p({#{} < #{a => 1}, #{b => 1} < #{a => 1, c => 1}, #{a => 2} < #{b => 1}, #{a => 2} < #{a => 3}, #{1 => x} < #{1.5 => x}, #{2 => x} < #{1.5 => x}}).
k(#{t := 1, u := U}) -> {one, U}; k(#{t := T}) when T > 1 -> {t, T}; k(#{t := _}) -> t; k(M) when M =:= #{} -> empty; k(#{}) -> map; k(_) -> none.
