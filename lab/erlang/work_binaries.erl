%% Building binaries and taking them apart, and the external term format.
-module(work_binaries).
-export([programs/0]).

programs() ->
    Packets = build(20000),
    Bytes = binary:copy(<<"the quick brown fox, ">>, 30000),
    Text = unicode:characters_to_binary(lists:duplicate(60000, [$a, 16#e9, 16#20ac, 16#1f600])),
    Term = term(10000),
    Encoded = term_to_binary(Term),
    Short = term_to_binary(term(1500)),
    [{build, fun() -> byte_size(build(20000)) end, 260000},
     {match, fun() -> match(Packets, 0, 0) end, {20000, 200010000}},
     {bytes, fun() -> commas(Bytes, 0) end, 30000},
     {utf8, fun() -> utf8(Text, 0) end, 8232360000},
     {term_to_binary, fun() -> term_to_binary(Term) =:= Encoded end, true},
     {binary_to_term, fun() -> length(binary_to_term(Short)) end, 1500}].

term(N) ->
    [{I, integer_to_binary(I), #{key => I, list => [I, I + 0.5]}} || I <- lists:seq(1, N)].

build(N) -> build(1, N, <<>>).

build(I, N, Sofar) when I > N -> Sofar;
build(I, N, Sofar) ->
    Float = I / 2,
    build(I + 1, N, <<Sofar/binary, 7:8, I:24/little, 1:1, I:15, 0:16, Float:32/float, 255>>).

match(<<7:8, I:24/little, 1:1, J:15, _:16, _:32/float, 255, Rest/binary>>, Count, Sum)
  when I =:= J ->
    match(Rest, Count + 1, Sum + I);
match(<<>>, Count, Sum) -> {Count, Sum}.

commas(<<$,, Rest/binary>>, N) -> commas(Rest, N + 1);
commas(<<_, Rest/binary>>, N) -> commas(Rest, N);
commas(<<>>, N) -> N.

utf8(<<C/utf8, Rest/binary>>, Sum) -> utf8(Rest, Sum + C);
utf8(<<>>, Sum) -> Sum.
