%% Texts of floats that are right and wrong.
-module(float_parse_many).
-export([main/0]).
main() -> Ss = ["1.0", "-1.0", "+1.0", "1.", ".1", "1", "1.0e", "1.0e5", "1.0E5", "1.0e+5", "1.0e-5", "1.0e400", "-1.0e400", "1.0e-400", "1e5", "0.0", "-0.0", "1.0 ", " 1.0", "1.0x", "1_0.0", "nan", "inf", "1.0e5.0", "00001.5", "1.7976931348623159e308", "2.4703282292062327e-324", "2.4703282292062328e-324", "9007199254740993.0", "0.1e1", "1.0e00000005", "123456789012345678901234567890.0", "1,0", "", "-", "1.-5"], [t:p(S, {t:c(fun() -> list_to_float(S) end), t:c(fun() -> binary_to_float(list_to_binary(S)) end), t:c(fun() -> string:to_float(S) end), t:c(fun() -> string:to_float(list_to_binary(S)) end), t:c(fun() -> string:to_integer(S) end)}) || S <- Ss].
