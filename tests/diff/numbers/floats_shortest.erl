%% The shortest texts of floats: of random bits, of neighbours of powers of two and ten, of integers,
%% and whether they read back.
-module(floats_shortest).
-export([main/0]).

main() ->
    rand:seed(exsss, 20251),
    [t:p(part(Name, Fun)) || {Name, Fun} <- parts()],
    [t:p({F, float_to_list(F, [short])}) || F <- edges()].

part(Name, Fun) ->
    Texts = [text(F) || F <- lists:flatmap(fun(_) -> Fun() end, lists:seq(1, 4000))],
    {Name, length(Texts), erlang:phash2(Texts), hd(Texts), lists:last(Texts)}.

text(F) ->
    Text = float_to_binary(F, [short]),
    F = binary_to_float(Text),
    Text.

parts() ->
    [{bits, fun() -> bits(rand:uniform(1 bsl 64) - 1) end},
     {powers_of_two, fun() -> near(rand:uniform(2046)) end},
     {powers_of_ten, fun() -> [math:pow(10, rand:uniform(600) - 300) * rand:uniform(9)] end},
     {integers, fun() -> [float(rand:uniform(1 bsl rand:uniform(62)))] end},
     {decimals, fun() -> [rand:uniform(1000000) / math:pow(10, rand:uniform(12))] end},
     {small, fun() -> bits(rand:uniform(1 bsl 52)) end}].

bits(N) ->
    case <<N:64>> of
        <<F/float>> -> [F];
        _ -> []
    end.

%% A power of two, and the floats beside it.
near(E) ->
    lists:append([bits((E bsl 52) + D) || D <- [-1, 0, 1]]).

edges() ->
    [0.0, -0.0, 1.0, -1.5, 100.0, 1000.0, 1.0e22, 1.0e23, 5.0e-324, 2.2250738585072014e-308,
     1.7976931348623157e308, 9007199254740992.0, 9007199254740994.0, 18014398509481984.0,
     4503599627370496.5, 900719925474099.1, 9007199254740993.0e1, 1.0e15, 1.0e16, 123456789012345680.0,
     0.1, 0.3, 2.0e-3, 1.0e-4, 1.0e-5, 0.00012, 2.5066282746310002, 8.41e21, 2.0e22].
