%% Binary construction and matching that cannot: reasons and explanations.
-module(bin_fail).
-export([main/0]).
main() ->
    Fs = [{int_atom, fun() -> <<(t:id(a)):8>> end}, {int_float, fun() -> <<(t:id(1.5))>> end}, {int_size_neg, fun() -> <<1:(t:id(-1))>> end}, {int_size_atom, fun() -> <<1:(t:id(x))>> end}, {float_atom, fun() -> <<(t:id(a))/float>> end},
          {float_17, fun() -> <<1.0:(t:id(17))/float>> end}, {float_big, fun() -> <<(t:id(1 bsl 2000))/float>> end}, {float_32, fun() -> <<(t:id(1.0e300)):32/float>> end}, {bin_atom, fun() -> <<(t:id(a))/binary>> end},
          {bin_short, fun() -> <<(t:id(<<1, 2>>)):3/binary>> end}, {bin_bits, fun() -> <<(t:id(<<1:3>>))/binary>> end}, {bits_int, fun() -> <<(t:id(1))/bits>> end}, {bits_unit, fun() -> <<(t:id(<<1:7>>))/binary-unit:2>> end},
          {utf8_atom, fun() -> <<(t:id(a))/utf8>> end}, {utf8_surrogate, fun() -> <<(t:id(16#D800))/utf8>> end}, {utf8_big, fun() -> <<(t:id(16#110000))/utf8>> end}, {utf16_neg, fun() -> <<(t:id(-1))/utf16>> end}, {utf32_big, fun() -> <<(t:id(1 bsl 40))/utf32>> end},
          {second, fun() -> <<1, 2, (t:id(b)), 3>> end}, {third_of_many, fun() -> <<(t:id(1)):16, (t:id(<<"x">>))/binary, (t:id(<<"y">>)):(t:id(9))/binary>> end}, {append, fun() -> B = t:id(<<1>>), <<B/binary, (t:id(z))>> end},
          {huge, fun() -> <<1:(t:id(1 bsl 64))>> end}, {huge2, fun() -> <<0:(t:id(1 bsl 62))/unit:64>> end}, {append_atom, fun() -> <<(t:id(foo))/binary, 1>> end}, {size_of_map, fun() -> <<1:(t:id(#{}))>> end}],
    [explain(N, F) || {N, F} <- Fs],
    [t:p(N, t:c(F)) || {N, F} <- [{match, fun() -> <<_:8>> = t:id(<<1, 2>>) end}, {no_bin, fun() -> <<_/binary>> = t:id(a) end}, {size_neg, fun() -> S = t:id(-1), <<_:S, _/bits>> = t:id(<<1>>) end}, {size_atom, fun() -> S = t:id(q), <<_:S, _/bits>> = t:id(<<1>>) end},
                                  {size_big, fun() -> S = t:id(1 bsl 70), <<_:S, _/bits>> = t:id(<<1>>) end}, {utf8, fun() -> <<_/utf8>> = t:id(<<16#ED, 16#A0, 16#80>>) end}, {utf8_short, fun() -> <<_/utf8>> = t:id(<<16#E2, 16#82>>) end}, {utf16, fun() -> <<_/utf16>> = t:id(<<16#DC00:16>>) end},
                                  {float_nan, fun() -> <<_/float>> = t:id(<<16#7FF8:16, 0:48>>) end}, {float_inf, fun() -> <<_:32/float>> = t:id(<<16#7F80:16, 0:16>>) end}, {float_24, fun() -> S = t:id(24), <<_:S/float>> = t:id(<<0:24>>) end}, {exact, fun() -> <<"abc">> = t:id(<<"abd">>) end}, {bits_left, fun() -> <<_:3, _/binary>> = t:id(<<1, 2>>) end},
                                  {unit, fun() -> <<_/binary-unit:16>> = t:id(<<1, 2, 3>>) end}, {case_, fun() -> case t:id(<<1>>) of <<2>> -> x; <<_, _>> -> y end end}]].

explain(N, F) ->
    try F() of V -> t:p(N, V) catch C:R:St -> [{M, Fn, A, I} | _] = St,
        [Text | _] = [lists:flatten(string:replace(L, "\"", "'", all)) || L <- [unicode:characters_to_list(erl_error:format_exception(C, R, [{M, x, A, [E || E = {error_info, _} <- I]}]))]],
        io:format("~w ~w ~w: ~ts~n", [N, R, is_atom(Fn), Text]) end.
