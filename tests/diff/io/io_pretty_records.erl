%% Records, maps and deep terms pretty-printed at several widths.
-module(io_pretty_records).
-export([main/0]).
main() ->
    T = {person, "Joe Armstrong", 68, [{address, "Stockholm", <<"se">>}, {address, "London", undefined}], #{likes => [erlang, prolog], born => {1950, 12, 27}}}, R = fun(person, 4) -> [name, age, addresses, more]; (address, 2) -> [city, country]; (_, _) -> no end,
    [io:format("~ts~n", [io_lib:pretty(T, R, W)]) || _ <- [1], W <- []], [io:format("~ts~n~n", [io_lib_pretty:print(T, [{line_length, L}, {record_print_fun, R}, {column, C}, {depth, D}])]) || L <- [20, 40, 80], C <- [1, 10], D <- [-1, 4, 8]], [io:format("~*p~n", [L, T]) || L <- [10, 30, 60, 100]], io:format("~ts~n", [io_lib:print(T, 1, 30, 6)]), io:format("~ts~n", [io_lib:print(T)]).
