%% A module that tests/dist compiles where kvik is installed.
-module(hello).
-export([main/0, main/1]).

main() -> io:format("hello from a module~n").
main(_) -> main().
