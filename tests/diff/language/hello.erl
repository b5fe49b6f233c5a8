%% The smallest program.
-module(hello).
-export([main/0]).
main() ->
    io:format("hello, world~n").
