%% Order of keys in small maps of every mix of types.
-module(map_order_small).
-export([main/0]).
main() -> Ks = [1, 1.0, 2, -1, 1 bsl 70, a, b, 'A', "s", [], [1], {}, {1}, {a, b}, #{}, #{a => 1}, <<>>, <<"b">>, <<1:1>>, 0.0, 5.5], [t:p(maps:keys(maps:from_list([{K, x} || K <- lists:nthtail(N, Ks ++ Ks), _ <- [1]]))) || N <- lists:seq(0, length(Ks), 3)], t:p(maps:to_list(maps:from_list([{K, I} || {I, K} <- lists:zip(lists:seq(1, length(Ks)), Ks)]))), t:p(maps:fold(fun(K, _, A) -> [K | A] end, [], maps:from_keys(Ks, 1))), t:p(#{1 => a, 1.0 => b}), t:p(maps:next(maps:iterator(#{c => 1, a => 2, b => 3}))), io:format("~p ~w~n", [#{z => 1, y => 2, 1 => 3}, #{2.0 => a, 2 => b, "x" => c}]), t:p([K || {K, _} <- maps:to_list(#{<<"b">> => 1, <<"a">> => 2, b => 3, a => 4})]).
