%% Maps compared with maps: sizes, keys, values, mixed numbers.
-module(map_order_compare).
-export([main/0]).
main() -> Ms = [#{}, #{a => 1}, #{a => 2}, #{b => 1}, #{a => 1.0}, #{1 => a}, #{1.0 => a}, #{1 => a, 2 => b}, #{1.0 => a, 2 => b}, #{1 => a, 2.0 => b}, #{"k" => []}, #{{} => #{}}, maps:from_list([{I, I} || I <- lists:seq(1, 40)]), maps:from_list([{I, I} || I <- lists:seq(2, 41)]), maps:from_list([{I, I * 1.0} || I <- lists:seq(1, 40)])], [t:p([{A < B, A == B, A =:= B, A > B} || B <- Ms]) || A <- Ms], t:p([maps:size(M) || M <- lists:sort(Ms)]), t:p([maps:size(M) || M <- lists:usort(Ms)]), t:p(lists:max(Ms) =:= lists:last(lists:sort(Ms))).
