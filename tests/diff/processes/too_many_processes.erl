%% Where there is no room for a process, its parent hears so and the logger too.
-module(too_many_processes).
-export([main/0, fill/0]).

main() ->
    {ok, [[Program]]} = init:get_argument(progname),
    Where = filename:dirname(code:which(?MODULE)),
    io:put_chars(os:cmd(Program ++ " +P 1024 -kernel logger_level none -noshell -pa " ++ Where ++ " -s too_many_processes fill")).

fill() ->
    erlang:system_flag(system_logger, self()),
    {'EXIT', {Reason, [{M, F, _, _} | _]}} = (catch spawn_all(2000)),
    t:p({Reason, M, F, logged()}),
    {'EXIT', {R2, [{M2, F2, _, _} | _]}} = (catch spawn_opt(fun() -> ok end, [link])),
    t:p({R2, M2, F2, logged()}),
    Request = spawn_request(fun() -> ok end),
    receive {spawn_reply, Request, error, Why} -> t:p({Why, logged()}) end,
    halt().

spawn_all(0) -> none;
spawn_all(N) ->
    spawn(fun() -> receive stop -> ok end end),
    spawn_all(N - 1).

logged() ->
    receive {log, Level, Format, Args, #{gl := G, pid := P}} -> {Level, Format, Args, G =:= group_leader(), P =:= self()}
    after 2000 -> none
    end.
