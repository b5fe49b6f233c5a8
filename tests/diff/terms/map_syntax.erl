%% Map expressions: updates in order, nested, failing, in guards and heads.
-module(map_syntax).
-export([main/0]).
main() -> M = #{a => 1, "b" => 2, 3 => c}, t:p(M#{a := 2, d => M#{a => x}}), t:p(t:c(fun() -> M#{zz := 1} end)), t:p(t:c(fun() -> (t:id(x))#{a => 1} end)), t:p(#{a => 1, a => 2}), t:p(f(M)), t:p(f(#{})), t:p(f(#{k => #{in => 5}})), t:p([g(X) || X <- [#{}, #{a => 1}, x, #{a => b}]]), K = a, #{K := V} = M, t:p(V), t:p(case M of #{"b" := 2, 3 := C} -> C end), t:p(#{t:id(1) + 1 => t:id(x)}), t:p(M#{{K, V} => [K]}), t:p(t:c(fun() -> #{nope := _} = t:id(M) end)), t:p([X || #{x := X} <- [#{x => 1}, #{}, y, #{x => 2}]]), t:p(#{#{} => #{#{} => []}}), t:p(is_map_key(a, M) andalso map_get(a, M)), t:p(t:c(fun() -> map_get(q, t:id(M)) end)), t:p((fun(#{a := A} = Z) -> {A, map_size(Z)} end)(M)).
f(#{k := #{in := X}}) -> {inner, X}; f(#{a := X, "b" := Y}) -> {X, Y}; f(#{}) -> any.
g(X) when map_get(a, X) =:= 1 -> one; g(X) when is_map_key(a, X) -> key; g(X) when map_size(X) =:= 0 -> empty; g(_) -> other.
