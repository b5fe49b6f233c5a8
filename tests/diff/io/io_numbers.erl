%% ~b, ~B, ~x, ~X, ~#, ~+ in every base with signs and padding; ~e, ~f, ~g.
-module(io_numbers).
-export([main/0]).
main() ->
    Is = [0, 1, -1, 255, -255, 1 bsl 70, a, 1.0], [t:p({F, X}, t:c(fun() -> lists:flatten(io_lib:format(F, [X])) end)) || F <- ["~b", "~B", "~.16b", "~.16B", "~.2b", "~.36B", "~.37b", "~.1b", "~10b|", "~-10b|", "~10.8.0b", "~#", "~.16#", "~+", "~.16+", "~.8#", "~5.16.0B"], X <- Is],
    [t:p({F, X}, t:c(fun() -> lists:flatten(io_lib:format(F, [X, "p"])) end)) || F <- ["~x", "~X", "~.16x", "~10.16.0X", "~.2x"], X <- Is], Fl = [0.0, -0.0, 1.0, -1.5, 123456.789, 1.0e-10, 1.0e100, 9.9999999, 0.05, 1, a],
    [t:p({F, X}, t:c(fun() -> lists:flatten(io_lib:format(F, [X])) end)) || F <- ["~e", "~f", "~g", "~.1e", "~.2e", "~.10e", "~.0f", "~.1f", "~.20f", "~.1g", "~.2g", "~.10g", "~20f|", "~-20.3f|", "~20.4e|", "~10.2g|", "~3.1f", "~10.2.*f"], X <- Fl].
