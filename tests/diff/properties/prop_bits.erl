%% Random bit syntax: fields of random size, sign and endianness built, matched
%% back, cut and joined at odd places.
-module(prop_bits).
-export([main/0]).
main() ->
    g:seed(2),
    g:digest("build", g:times(2000, fun(_) -> build(g:integer(), g:int(90), g:int(70), g:integer()) end)),
    g:digest("match", g:times(2000, fun(_) -> match(g:bits(300), g:int(80)) end)),
    g:digest("cut", g:times(2000, fun(_) -> cut(g:bits(400)) end)),
    g:digest("fold", g:times(300, fun(_) -> [fold(g:bits(300), N, []) || N <- [1, 3, 7, 8, 13, 16, 31, 64]] end)),
    g:digest("join", g:times(300, fun(_) -> join([g:bits(40) || _ <- lists:seq(1, 10)]) end)),
    g:digest("utf", g:times(500, fun(_) -> utf(g:string(10)) end)),
    g:digest("floats", g:times(500, fun(_) -> floats(g:float(), g:int(8)) end)).

build(V, S, P, W) ->
    [<<V:S>>, <<V:S/little>>, <<0:P, V:S/signed>>, <<V:P/little, W:S>>, <<W:S/little, 1:1, V:P>>,
     <<V:S/unit:3>>, <<V:12/unit:9, 5:3>>].

match(B, N) ->
    [case B of <<X:N, R/bits>> -> {X, R}; _ -> short end,
     case B of <<X:N/signed, R/bits>> -> {X, R}; _ -> short end,
     case B of <<X:N/little, R/bits>> -> {X, R}; _ -> short end,
     case B of <<X:N/signed-little, _/bits>> -> X; _ -> short end,
     case B of <<_:5, X:N/little-signed, Y:8, _/bits>> -> {X, Y}; _ -> short end,
     case B of <<L:5, X:L/binary, R/bits>> -> {X, R}; <<L:5, X:L/bits, R/bits>> -> {bits, X, R}; _ -> short end,
     case B of <<X:N/bits, Y:N/bits, Z/bits>> -> {X, Y, Z, <<Z/bits, Y/bits, X/bits>>}; _ -> short end,
     case B of <<_:3, X:17, Y:33, Z/binary>> -> {X, Y, Z}; <<_:3, X:17, _/bits>> -> X; _ -> short end].

cut(B) ->
    N = g:int(bit_size(B) + 1),
    <<X:N/bits, Y/bits>> = B,
    B = <<X/bits, Y/bits>>,
    true = X =:= t:id(<<X/bits>>),
    [X, Y, X < Y, X =:= Y, g:digest(Y), <<Y/bits, X/bits>>, bitstring_to_list(Y), term_to_binary(Y),
     <<<<(bnot A):1>> || <<A:1>> <= Y>>, t:c(fun() -> binary_to_list(Y) end)].

fold(B, N, Acc) ->
    case B of
        <<X:N, R/bits>> -> fold(R, N, [X | Acc]);
        _ -> {Acc, B}
    end.

join(Bs) -> lists:foldl(fun(B, A) -> <<A/bits, B/bits>> end, <<>>, Bs).

utf(S) ->
    U8 = << <<C/utf8>> || C <- S >>, U16 = << <<C/utf16>> || C <- S >>, L16 = << <<C/utf16-little>> || C <- S >>,
    U32 = << <<C/utf32-little>> || C <- S >>,
    S = [C || <<C/utf8>> <= U8], S = [C || <<C/utf16>> <= U16], S = [C || <<C/utf32-little>> <= U32],
    S = [C || <<C/utf16-little>> <= L16],
    {U8, U16, L16, U32}.

floats(F, P) ->
    B = t:c(fun() -> <<0:P, F/float, F:32/float-little, 1:1>> end),
    case B of
        <<_:P, F1/float, G:32/float-little, _/bits>> -> F1 = F, {B, G};
        _ -> B
    end.
