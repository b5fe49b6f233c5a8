%% io_lib:format: every control sequence, widths, precision, padding.
-module(io_format).
-export([main/0]).
main() ->
    F = fun(Fmt, Args) ->
                case t:c(fun() -> lists:flatten(io_lib:format(Fmt, Args)) end) of
                    {error, R} -> io:format("~s ~w => ~w~n", [Fmt, Args, R]);
                    Text -> io:format("~s ~w => |~ts|~n", [Fmt, Args, Text])
                end
        end,
    [F(X, [42]) || X <- ["~w", "~p", "~5w", "~-5w|", "~5.10.0w", "~b", "~B", "~.16b", "~.16B", "~.2b", "~8.16.0b", "~-8.16b|", "~x"]], F("~.16x", [255, "0x"]), F("~.16#", [255]), F("~.36+", [-255]), F("~+", [10]), F("~#", [10]), F("~c", [65]), F("~5c", [65]), F("~3.2c", [65]), F("~tc", [8364]), F("~s", ["str"]), F("~10s|", ["str"]), F("~-10s|", ["str"]), F("~.2s", ["string"]), F("~10.2s|", ["string"]), F("~5.5.*s", [$*, "ab"]), F("~s", [<<"bin">>]), F("~ts", [<<"é€"/utf8>>]), F("~s", [atom]), F("~s", [["deep", [<<"x">>], 65]]), F("~a", [x]),
    F("~p", ["printable"]), F("~w", ["ab"]), F("~p", [[1, 2]]), F("~p", [<<"bin">>]), F("~w", [<<"bin">>]), F("~p", [<<1, 2>>]), F("~p", ['quoted atom']), F("~w", ['quoted\natom']), F("~p", [{a, [b, "c"], #{d => 1.0}}]), F("~W", [[1, 2, 3, 4, 5], 3]), F("~P", [{a, b, c, d}, 3]), F("~P", ["a long string here", 5]), F("~W", [#{a => 1, b => 2, c => 3}, 3]), F("~i~w", [skip, shown]), F("~~ ~n", []), F("~*w", [6, a]), F("~10p|", [ab]), F("~tp", ["é€"]), F("~p", ["é"]), F("~tp", [<<"é"/utf8>>]), F("~tw", ['é€']), F("~w", ['é€']), F("~kp", [#{b => 1, a => 2}]), F("~lp", [#{a => "x"}]), F("~0p", [lists:seq(1, 60)]), F("~p", [lists:seq(1, 60)]),
    F("~w ~w", [1]), F("~w", [1, 2]), F("~q", [1]), F("~s", [1]), F("~b", [1.0]), F("~f", [1]), F("~c", [a]), F("~s", [[8364]]), F("~.40b", [1]), F("~", []), F("~10", [a]), t:p(io_lib:format("a~wb", [1])), t:p(io_lib:fwrite("~s", ["x"])), t:pc(fun() -> io_lib:format(t:id(1), []) end).
