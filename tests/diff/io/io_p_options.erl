%% ~p, ~w, ~s, ~P, ~W with widths, precisions, padding and modifiers.
-module(io_p_options).
-export([main/0]).
main() ->
    Ts = [a, 'é b', "abc", "漢", [1, 2, 300], <<"bin">>, <<255>>, <<1:3>>, {a, "b", <<"c">>}, #{a => 1, "b" => 2}, 1.5, -7, [a | b], []],
    Fs = ["~p", "~w", "~tp", "~tw", "~20p", "~-20p|", "~10.5.*p", "~lp", "~ltp", "~.3p", "~0p", "~5w", "~-5w|", "~10..+w", "~10..*w", "~3w", "~kp"],
    [t:p({F, X}, t:c(fun() -> lists:flatten(io_lib:format(F, case F of "~10.5.*p" -> [X]; _ -> [X] end)) end)) || F <- Fs, X <- Ts],
    [t:p({D, X}, t:c(fun() -> {lists:flatten(io_lib:format("~P", [X, D])), lists:flatten(io_lib:format("~W", [X, D]))} end)) || D <- [0, 1, 2, 3, 5, -1, a], X <- Ts ++ [lists:seq(1, 20), {1, {2, {3, {4}}}}]].
