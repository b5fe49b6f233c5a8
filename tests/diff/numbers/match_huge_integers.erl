%% Integers matched in segments wider than the widest integer: the value decides.
-module(match_huge_integers).
-export([main/0]).
main() ->
    Widest = ((1 bsl 19) - 1) * 64,
    [widths(Bits) || Bits <- [Widest - 8, Widest, Widest + 8, 1 bsl 25, 1 bsl 26, 1 bsl 27]],
    [t:p({Bits, unaligned(Bits)}) || Bits <- [Widest, Widest + 1, Widest + 9]].
widths(Bits) ->
    Low = <<1:Bits, 13>>, High = <<1:1, 0:(Bits - 1), 13>>, Minus = <<-1:Bits, 13>>,
    t:p({Bits, big(Bits, Low), width(big(Bits, High)), width(big(Bits, Minus))}),
    t:p({little(Bits, High), width(little(Bits, Low)), width(little(Bits, Minus))}),
    t:p({signed(Bits, Low), width(signed(Bits, High)), signed(Bits, Minus)}),
    t:p({skip(Bits, High), signed_little(Bits, High), signed_little(Bits, Minus)}).
unaligned(Bits) ->
    <<_:3, R/bits>> = <<5:3, 1:Bits, 13, 0:5>>,
    case R of <<I:Bits, 13, _/bits>> -> I; _ -> none end.
big(Bits, B) -> case B of <<I:Bits, 13>> -> I; _ -> none end.
little(Bits, B) -> case B of <<I:Bits/little, 13>> -> I; _ -> none end.
signed(Bits, B) -> case B of <<I:Bits/signed, 13>> -> I; _ -> none end.
signed_little(Bits, B) -> case B of <<I:Bits/signed-little, 13>> -> I; _ -> none end.
skip(Bits, B) -> case B of <<_:Bits, 13>> -> true; _ -> none end.
width(none) -> none;
width(I) -> {I > 0, byte_size(binary:encode_unsigned(abs(I)))}.
