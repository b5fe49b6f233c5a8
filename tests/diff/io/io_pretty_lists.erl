%% Long lists, strings, binaries and maps broken over lines.
-module(io_pretty_lists).
-export([main/0]).
main() ->
    [io:format("~p~n", [X]) || X <- [lists:seq(1, 60), lists:duplicate(30, abcdef), lists:flatten(lists:duplicate(12, "a string ")), list_to_binary(lists:duplicate(12, "a binary ")), list_to_binary(lists:seq(200, 255)), maps:from_list([{I, I * I * 1000} || I <- lists:seq(1, 20)]), [{I, lists:duplicate(I, $x)} || I <- lists:seq(1, 12)], {ok, [[[[[[[[[[deep]]]]]]]]]], "string"}, [lists:seq(1, 20) | tail], #{#{a => 1} => #{b => [c, {d, e}]}}, list_to_tuple(lists:seq(100, 140)), <<(binary:copy(<<"ab">>, 50))/binary, 1:1>>, [[], {}, #{}, <<>>, ""], ["line\nbreak", "tab\t", "esc\e\d\0", "quote\"", 'atom\'s'], [-1.5e300, 1.0e-5, 123456789.0]]].
