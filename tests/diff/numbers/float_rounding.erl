%% Floats from integers of many digits, halves, and texts that a zero byte ends.
-module(float_rounding).
-export([main/0]).

main() ->
    Wide = [428654966685883400000, 38409289721754710000, 34784104853086640000, 96874578115970900000,
            (1 bsl 64) + (1 bsl 11), (1 bsl 64) + (1 bsl 11) + 1, (3 bsl 63) + (1 bsl 11), (1 bsl 128) - 1,
            ((1 bsl 53) + 1) bsl 200, (((1 bsl 53) + 1) bsl 200) + 1, ((1 bsl 54) - 1) bsl 970,
            (1 bsl 1024) - 1, ((1 bsl 53) - 1) bsl 971, 1 bsl 1024],
    [t:pc(I rem 1000007, fun() -> {float(t:id(I)), t:id(I) * 1.0, -t:id(I) / 1} end) || I <- Wide],
    [t:pc(I rem 1000007, fun() -> <<(t:id(I)):64/float>> end) || I <- Wide],
    [t:pc(F, fun() -> {<<(t:id(F)):16/float>>, <<(-t:id(F)):16/float-little>>} end) ||
        F <- [0.0, 1, 65504, 65519.99, 65520.0, 1000000000, 0.999755859375, 1.00048828125,
              1.00048840045928955078125, 1.000488282181322574615478515625, 1.0014648437499998,
              6.103515625e-5, 6.1e-5, 3.0517578125e-5, 2.1159648895263671875e-5, 5.9604644775390625e-8,
              2.98023223876953125e-8, 2.9802322387695315e-8, 1.0e-9, 0.333251953125, 1 / 3]],
    [t:pc(H, fun() -> <<F:16/float>> = <<(t:id(H)):16>>, <<H:16>> =:= <<F:16/float>> end) ||
        H <- [0, 1, 5, 16#33, 16#163, 16#3ff, 16#400, 16#7bff, 16#8001, 16#bc01]],
    [t:pc(S, fun() -> {list_to_float(t:id(S)), binary_to_float(list_to_binary(t:id(S)))} end) ||
        S <- ["1.5", "1.5\0", "1.5\0x", "1.5e3\0\0", "\0001.5", "1.5e\0003", "1.\0005", "1.5x\0"]],
    <<131, 99, Text:31/binary>> = term_to_binary(3.14, [{minor_version, 0}]),
    t:pc(Text, fun() -> binary_to_float(Text) end).
