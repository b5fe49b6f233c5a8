%% Guard BIFs that compute, in guards and in bodies, with good and bad arguments.
-module(guard_bifs).
-export([main/0]).
main() ->
    Vs = [0, -7, 7.9, -0.5, [1, 2, 3], [], [a | b], {}, {a, b}, <<"abc">>, <<1:5>>, #{a => 1, b => 2}, atom],
    [io:format("~0p ~0p~n    ~0p~n", [V, guards(V), bodies(V)]) || V <- Vs].
guards(V) ->
    [N || {N, true} <- [{abs, g_abs(V)}, {byte_size, g_byte(V)}, {bit_size, g_bit(V)}, {hd, g_hd(V)},
     {tl, g_tl(V)}, {length, g_len(V)}, {tuple_size, g_ts(V)}, {size, g_size(V)}, {map_size, g_ms(V)},
     {element, g_el(V)}, {round, g_round(V)}, {trunc, g_trunc(V)}, {floor, g_floor(V)},
     {ceil, g_ceil(V)}, {float, g_float(V)}, {is_map_key, g_mk(V)}, {map_get, g_mg(V)}]].
g_abs(V) when abs(V) >= 0 -> true; g_abs(_) -> false.
g_byte(V) when byte_size(V) > 0 -> true; g_byte(_) -> false.
g_bit(V) when bit_size(V) > 4 -> true; g_bit(_) -> false.
g_hd(V) when hd(V) =/= none -> true; g_hd(_) -> false.
g_tl(V) when tl(V) =/= none -> true; g_tl(_) -> false.
g_len(V) when length(V) >= 0 -> true; g_len(_) -> false.
g_ts(V) when tuple_size(V) >= 0 -> true; g_ts(_) -> false.
g_size(V) when size(V) >= 0 -> true; g_size(_) -> false.
g_ms(V) when map_size(V) >= 0 -> true; g_ms(_) -> false.
g_el(V) when element(2, V) =:= b -> true; g_el(_) -> false.
g_round(V) when round(V) =/= x -> true; g_round(_) -> false.
g_trunc(V) when trunc(V) =/= x -> true; g_trunc(_) -> false.
g_floor(V) when floor(V) =/= x -> true; g_floor(_) -> false.
g_ceil(V) when ceil(V) =/= x -> true; g_ceil(_) -> false.
g_float(V) when float(V) < 100.0 -> true; g_float(_) -> false.
g_mk(V) when is_map_key(a, V) -> true; g_mk(_) -> false.
g_mg(V) when map_get(b, V) =:= 2 -> true; g_mg(_) -> false.
bodies(V) ->
    Fs = [abs, byte_size, bit_size, hd, tl, length, tuple_size, size, map_size, round, trunc, floor, ceil, float],
    [{F, t:c(fun() -> erlang:F(V) end)} || F <- Fs]
        ++ [{element, t:c(fun() -> element(2, V) end)}, {is_map_key, t:c(fun() -> is_map_key(a, V) end)},
            {map_get, t:c(fun() -> map_get(b, V) end)}].
