%% Guard BIFs as values and as tests, over all kinds of terms: what they come to and how they fail.
-module(guard_native).
-export([main/0]).

values() ->
    Bin = list_to_binary(lists:seq(0, 99)),
    <<_:8, Sub:40/binary, _/binary>> = Bin,
    <<_:3, Bits:37/bits, _/bits>> = Bin,
    <<_:3, Whole:5/binary, _/bits>> = Bin,
    [0, 1, -1, 2, 3, -3, 7, -8, 16, 100, 255, -256, 1 bsl 24, -(1 bsl 24), (1 bsl 59) - 1,
     -(1 bsl 59), 1 bsl 59, -(1 bsl 59) - 1, 1 bsl 63, (1 bsl 64) - 1, -(1 bsl 64), 1 bsl 80, 1.0,
     0.0, -2.5, 1.0e300, a, true, false, [], [a], [a | b], [1, 2, 3], {}, {a}, {a, b, c},
     list_to_tuple(lists:seq(1, 300)), <<>>, <<"abc">>, <<1:3>>, Bin, Sub, Bits, Whole, #{},
     #{a => 1}, maps:from_list([{I, I} || I <- lists:seq(1, 50)])].

others() -> [self(), make_ref(), fun main/0, fun lists:map/2, hd(erlang:ports())].

main() ->
    [t:p(Name, [t:c(fun() -> F(X) end) || X <- values() ++ others()])
     || {Name, F} <- unary(), Name =/= hd],
    [t:p(Name, erlang:phash2([t:c(fun() -> F(X) end) || X <- values()])) || {Name, F} <- unary()],
    [begin
         All = [t:c(fun() -> F(X, Y) end) || X <- values(), Y <- values()],
         t:p(Name, {erlang:phash2(All), length([1 || {error, _} <- All]),
                    length([1 || true <- All])})
     end || {Name, F} <- binary()],
    [t:p({guards, X}, [G(X) || G <- guards()]) || X <- values(), not is_map(X), not is_binary(X)],
    [t:p([t:st(fun() -> F(X) end) || X <- [x, 0, {}, []]]) || {_, F} <- unary()],
    [t:p([t:st(fun() -> F(X, Y) end) || {X, Y} <- [{1, 0}, {x, 1}, {1, {}}, {true, 1}]])
     || {Name, F} <- binary(), lists:member(Name, ['div', 'rem', element, 'and', 'or', power_rem])].

unary() ->
    [{hd, fun(X) -> hd(X) end}, {tl, fun(X) -> tl(X) end}, {tuple_size, fun(X) -> tuple_size(X) end},
     {map_size, fun(X) -> map_size(X) end}, {byte_size, fun(X) -> byte_size(X) end},
     {'not', fun(X) -> not X end}, {'bnot', fun(X) -> bnot X end}, {minus, fun(X) -> -X end},
     {is_atom, fun(X) -> is_atom(X) end}, {is_binary, fun(X) -> is_binary(X) end},
     {is_bitstring, fun(X) -> is_bitstring(X) end}, {is_boolean, fun(X) -> is_boolean(X) end},
     {is_float, fun(X) -> is_float(X) end}, {is_function, fun(X) -> is_function(X) end},
     {is_integer, fun(X) -> is_integer(X) end}, {is_list, fun(X) -> is_list(X) end},
     {is_map, fun(X) -> is_map(X) end}, {is_number, fun(X) -> is_number(X) end},
     {is_pid, fun(X) -> is_pid(X) end}, {is_port, fun(X) -> is_port(X) end},
     {is_reference, fun(X) -> is_reference(X) end}, {is_tuple, fun(X) -> is_tuple(X) end},
     {element_1, fun(X) -> element(1, X) end}, {element_3, fun(X) -> element(3, X) end},
     {element_300, fun(X) -> element(300, X) end}, {element_0, fun(X) -> element(t:id(0), X) end},
     {power_rem, fun(X) -> X rem 2 end}, {rem_16, fun(X) -> X rem 16 end},
     {div_8, fun(X) -> X div 8 end}, {div_1, fun(X) -> X div 1 end}, {rem_1, fun(X) -> X rem 1 end},
     {div_3, fun(X) -> X div 3 end}, {rem_10, fun(X) -> X rem 10 end},
     {div_minus, fun(X) -> X div -1 end}, {rem_minus, fun(X) -> X rem -4 end},
     {div_large, fun(X) -> X div (1 bsl 40) end}, {div_2_23, fun(X) -> X div (1 bsl 23) end},
     {bsl_0, fun(X) -> X bsl 0 end}, {bsl_1, fun(X) -> X bsl 1 end}, {bsl_40, fun(X) -> X bsl 40 end},
     {bsl_58, fun(X) -> X bsl 58 end}, {bsl_70, fun(X) -> X bsl 70 end},
     {one_bsl, fun(X) -> (1 bsl 3) bsl (X band 63) end}, {is_true, fun(X) -> X =:= true end},
     {less, fun(X) -> X < 5 end}, {like_1, fun(X) -> X == 1 end}, {is_1, fun(X) -> X =:= 1 end}].

binary() ->
    [{eq_exact, fun(X, Y) -> X =:= Y end}, {ne_exact, fun(X, Y) -> X =/= Y end},
     {eq, fun(X, Y) -> X == Y end}, {ne, fun(X, Y) -> X /= Y end}, {lt, fun(X, Y) -> X < Y end},
     {gt, fun(X, Y) -> X > Y end}, {le, fun(X, Y) -> X =< Y end}, {ge, fun(X, Y) -> X >= Y end},
     {'div', fun(X, Y) -> X div Y end}, {'rem', fun(X, Y) -> X rem Y end},
     {element, fun(X, Y) -> element(X, Y) end}, {'and', fun(X, Y) -> X and Y end},
     {'or', fun(X, Y) -> X or Y end}, {'xor', fun(X, Y) -> X xor Y end},
     {mixed, fun(X, Y) -> (X =:= Y) or (X < Y) and not (Y == 3) end}].

guards() ->
    [fun(X) when hd(X) =:= a -> hd_a; (_) -> no end,
     fun(X) when tl(X) =:= [] -> tl_nil; (_) -> no end,
     fun(X) when tuple_size(X) > 1 -> large; (X) when tuple_size(X) >= 0 -> tuple; (_) -> no end,
     fun(X) when element(3, X) =:= c -> c; (X) when element(1, X) =:= a -> a; (_) -> no end,
     fun(X) when X rem 2 =:= 0 -> even; (X) when X rem 2 =/= 0 -> odd; (_) -> no end,
     fun(X) when 10 div X > 2 -> small; (X) when 10 rem X =:= 0 -> divides; (_) -> no end,
     fun(X) when -X > 5 -> low; (X) when bnot X > 0 -> negative; (_) -> no end,
     fun(X) when not X -> false; (X) when X or false -> true; (_) -> no end,
     fun(X) when X bsl 2 =:= 8 -> two; (X) when length(X) > 1 -> long; (_) -> no end,
     fun(X) when is_integer(X) xor is_atom(X) -> yes; (_) -> no end].
