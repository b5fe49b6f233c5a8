%% Bit strings: matching and building.
-module(cs_bits).
-export([bytes/1, bits/1, ints/1, floats/1, utf/1, parse/1, build/3, append/2, bc/1, tail/1, str/1,
         sizes/2, keep/1, words/1, nested/1, fields/1, units/1, back/1, mix/2]).

bytes(<<B, Rest/binary>>) -> [B | bytes(Rest)];
bytes(<<>>) -> [].

bits(<<1:1, Rest/bits>>) -> [one | bits(Rest)];
bits(<<0:1, Rest/bits>>) -> [zero | bits(Rest)];
bits(_) -> [].

ints(<<A:16/little, B:24/signed, C:7, D:9/little-signed, E:64, F:100/big, R/bits>>) ->
    {A, B, C, D, E, F, R};
ints(<<A:3, B:5, R/bits>>) -> {A, B, ints(R)};
ints(R) -> R.

floats(<<F:64/float, G:32/float-little, H:16/float, R/binary>>) -> [F, G, H | floats(R)];
floats(<<_, R/binary>>) -> floats(R);
floats(_) -> [].

utf(<<C/utf8, R/binary>>) -> [C | utf(R)];
utf(<<C/utf16-little, R/binary>>) -> [{C} | utf(R)];
utf(<<C/utf32, R/binary>>) -> [[C] | utf(R)];
utf(<<_/utf16, R/binary>>) -> [x | utf(R)];
utf(R) -> R.

parse(<<"GET ", R/binary>>) -> {get, parse(R)};
parse(<<"PUT ", N:8, Data:N/binary, R/binary>>) -> {put, Data, parse(R)};
parse(<<N:4, S:N/unit:8, R/bits>>) -> {N, S, R};
parse(<<T:8, R/binary>>) when T < 32; T > 126 -> {ctl, parse(R)};
parse(X) -> X.

build(A, B, C) ->
    try <<A:16, B/binary, C:32/little-signed, A/utf8, "lit", (byte_size(B)):8, 1.5:64/float, A:3,
          C:13/little, B/bits, A/utf16, A/utf32-little>>
    catch error:E -> {E, <<B/bits, A:8>>} end.

append(Acc, [H | T]) -> append(<<Acc/binary, H:8, "x">>, T);
append(Acc, N) when is_integer(N), N > 0 -> append(<<Acc/bits, N:N>>, N - 1);
append(Acc, _) -> Acc.

bc(X) -> {<< <<(B + 1):16>> || <<B>> <= X >>, [B || <<B:3>> <= X], << <<A:1>> || A <- [1, 0, 1] >>}.

tail(<<A:8, R/binary>>) when A > 64 -> {R, byte_size(R)};
tail(<<_:4, R/bits>>) -> tail2(R, R);
tail(X) -> X.
tail2(<<_:4, R/bits>>, W) -> {R, W};
tail2(R, _) -> R.

str(X) ->
    case X of
        <<"abcdefgh", R/binary>> -> R;
        <<"ab", _:8, "d", R/binary>> -> {R};
        <<_:5, "x", R/bits>> -> [R];
        _ -> no
    end.

sizes(B, N) ->
    case B of
        <<A:N, C:N/binary, R/bits>> -> {A, C, R};
        <<_:N/unit:3, R/bits>> -> R;
        <<A:N/binary-unit:4, _/bits>> -> A;
        _ -> none
    end.

keep(<<A, B, R/binary>> = All) -> {A, keep2(R, All), B};
keep(X) -> X.
keep2(<<C, R/binary>>, All) when C =/= 0 -> keep2(R, All);
keep2(R, All) -> {R, All}.

words(B) -> words(B, 0, []).
words(<<$ , R/binary>>, N, Acc) -> words(R, 0, [N | Acc]);
words(<<_, R/binary>>, N, Acc) -> words(R, N + 1, Acc);
words(<<>>, N, Acc) -> lists:reverse(Acc, [N]).

nested(<<L:8, In:L/binary, Out/binary>>) -> {nested(In), nested(Out)};
nested(B) -> <<B/bits, B/bits>>.

fields(<<V:4, H:4, _:8, L:16, R/binary>> = P) when V =:= 4, L =< byte_size(P) ->
    S = (H - 5) * 4,
    case R of
        <<O:S/binary, D/binary>> -> {O, D};
        _ -> {L, R}
    end;
fields(_) -> bad.

units(<<A/binary-unit:16>>) -> {A};
units(<<A:2/binary-unit:12, B/bits>>) -> {A, B};
units(<<_:1, A/binary-unit:8>>) -> A;
units(A) when is_bitstring(A) -> A.

back(B) ->
    case B of
        <<1, 2, R/binary>> -> back(R);
        <<1, X, R/binary>> when X > 100 -> {X, R};
        <<Y:16, R/binary>> -> {Y, R};
        <<Z>> -> Z;
        <<>> -> done
    end.

mix(<<A, T/binary>>, Acc) ->
    New = try list_to_integer([A]) of N -> <<Acc/binary, N>> catch _:_ -> <<Acc/binary, T/binary>> end,
    mix(T, binary:part(New, 0, min(9, byte_size(New))));
mix(_, Acc) -> Acc.
