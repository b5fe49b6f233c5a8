%% term_to_binary: the exact bytes of terms of every kind.
-module(etf_bytes).
-export([main/0]).
main() ->
    Ts = [0, 255, 256, -1, 2147483647, 2147483648, -2147483648, -2147483649, 1 bsl 64, -(1 bsl 64), 1 bsl 2100, 1.5, -0.0, a, 'é', '', "", "abc", [1, 2], [a | b], [256], lists:seq(1, 10), {}, {a, 1}, #{}, #{a => 1}, <<>>, <<"bin">>, <<5:3>>, <<1, 2:4>>, true, [[]], {[], {}}, fun lists:map/2, erlang:make_tuple(256, x), lists:duplicate(3, "x")],
    [begin B = term_to_binary(T), t:p(B), true = (binary_to_term(B) =:= T) end || T <- Ts], t:p([term_to_binary(T, [{minor_version, V}]) || T <- [1.5, a, 'é'], V <- [0, 1, 2]]), t:p([erlang:external_size(T) || T <- Ts]), t:p([byte_size(term_to_binary(T)) || T <- [self(), make_ref(), fun main/0]] =/= []), t:p(iolist_to_binary(term_to_iovec({a, <<0:800>>})) =:= term_to_binary({a, <<0:800>>})),
    M = maps:from_list([{I, I} || I <- lists:seq(1, 100)]), t:p(binary_to_term(term_to_binary(M)) =:= M), t:p(byte_size(term_to_binary(M))), t:p(byte_size(term_to_binary(lists:duplicate(1000, $a)))), t:p(term_to_binary(list_to_atom(lists:duplicate(255, $x)))), t:p(term_to_binary(#{b => 1, a => 2, 1 => x, 1.0 => y})), t:p(term_to_binary(#{b => 1, a => 2}, [deterministic])).
