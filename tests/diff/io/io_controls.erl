%% ~c, ~i, ~n, ~~, ~*, and formats that are none or have too few or many arguments.
-module(io_controls).
-export([main/0]).
main() ->
    [t:p({F, A}, t:c(fun() -> lists:flatten(io_lib:format(F, A)) end)) || {F, A} <- [{"~c", [$a]}, {"~3c", [$a]}, {"~5.3c|", [$a]}, {"~-5.3c|", [$a]}, {"~c", [300]}, {"~tc", [300]}, {"~tc", [-1]}, {"~c", [a]}, {"~i~p", [a, b]}, {"~n~3n", []}, {"~~", []}, {"~5~", []}, {"~*p", [5, a]}, {"~*.*p", [9, 3, [a]]}, {"~*.*.*s", [9, 3, $-, "abcdef"]}, {"~p", []}, {"~p", [1, 2]}, {"~q", [1]}, {"~", []}, {"~1", []}, {"~p", a}, {a, [b]}, {"~a", [a]}, {"abc", []}, {<<"~p">>, [x]}, {"~s", [[1, 2]]}, {"~-s", ["x"]}, {"~.s", ["x"]}, {"~.-1s", ["x"]}, {["~", "p"], [1]}, {'~p', [1]}]],
    t:p(io_lib:scan_format("~10.3tp~n~s", [a, "b"])), t:p(t:c(fun() -> io_lib:unscan_format(io_lib:scan_format("~-10.3tp~n~s", [a, "b"])) end)), t:p(lists:flatten(io_lib:build_text(io_lib:scan_format("~p-~w", [a, b])))), t:p(lists:flatten(io_lib:format("~p ~s", [abc, "defgh"], [{chars_limit, 5}]))), t:p(lists:flatten(io_lib:format("~p", [lists:seq(1, 100)], [{chars_limit, 20}]))).
