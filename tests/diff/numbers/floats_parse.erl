%% Text to float and back.
-module(floats_parse).
-export([main/0]).
main() ->
    Ss = ["1.0", "-1.5", "+2.25", "1.0e5", "1.0E-5", "0.1", "1.7976931348623157e308", "1.0e309", "4.9e-324", "1.0e-400", "1", "1.", ".5", "1.0e", "a", "", " 1.0", "1.0 ", "123456789012345678901234567890.0", "1.0e+3", "-0.0", "0.30000000000000004", "9007199254740993.0", "1e5", "1.5e3.2", "--1.0"],
    [t:p(S, {t:c(fun() -> list_to_float(S) end), t:c(fun() -> binary_to_float(list_to_binary(S)) end), string:to_float(S), t:c(fun() -> io_lib:fread("~f", S) end)}) || S <- Ss],
    [true = (list_to_float(float_to_list(F, [short])) =:= F) || F <- [math:pow(1.37, N) * math:sin(N) || N <- lists:seq(1, 500)]],
    t:p(ok).
