#!/usr/bin/env escript
%% -*- erlang -*-
%%! -kernel greeting hello +S 1
-mode(compile).
-record(r, {a = 1}).

main(["exit", N]) -> halt(list_to_integer(N));
main(["throw"]) -> throw(ball);
main(["error"]) -> error({why, 1});
main(["stop"]) -> init:stop(3), timer:sleep(infinity);
main(["in"]) -> io:format("~p~n", [io:get_line("")]);
main(Args) ->
    {ok, Greeting} = application:get_env(kernel, greeting),
    io:format("~s ~p ~p ~p~n", [Greeting, Args, #r{}, erlang:system_info(schedulers)]),
    io:format(standard_error, "~ts~n", ["stderr, ünicode"]).
