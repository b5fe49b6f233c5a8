%% since 27
%% Flags that came after OTP 25, their defaults, and how a halt ends that takes too long to flush.
-module(flags_since_27).
-export([main/0, told/0, halts/1]).

main() ->
    [os:unsetenv(Name) || Name <- ["ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS"]],
    [io:format("~ts: ~ts~n", [Flags, run(Flags ++ " -s flags_since_27 told")]) ||
        Flags <- ["", "+zhft infinity", "+zhft 20", "+zhft0", "+C no_time_warp", "+C multi_time_warp",
                  "+JPperf fp", "+JPperf no_fp", "+JPperf false"]],
    [io:format("~ts: ~ts~n", [Flags, refused(Flags)]) || Flags <- ["+zhft x1", "+zhft -1", "+zhft 2147483648", "+JPperf x"]],
    Pipe = "flags_since_27.pipe",
    os:cmd("mkfifo " ++ Pipe),
    [io:format("~ts ~ts: ~ts~n", [Flags, How, run(Flags ++ " -run flags_since_27 halts " ++ How, " 5<>" ++ Pipe)]) ||
        {Flags, How} <- [{"", "soon"}, {"+zhft 50", "default"}, {"+zhft 50", "not_flushing"},
                         {"+zhft 3600000", "soon"}, {"", "wrong"}]].

told() ->
    io:format("~w ~w ~w", [erlang:system_info(halt_flush_timeout), erlang:system_info(time_warp_mode),
                           erlang:system_info(time_offset)]),
    halt().

%% Nobody reads from the pipe, which holds less than it is sent.
halts([How]) ->
    Port = open_port({fd, 5, 5}, [out]),
    true = erlang:port_command(Port, <<0:(1 bsl 23)>>, [nosuspend]),
    io:format("halts, "),
    case How of
        "soon" -> halt(3, [{flush_timeout, 50}]);
        "default" -> halt(3);
        "not_flushing" -> halt(3, [{flush, false}]);
        "wrong" ->
            [io:format("~p ", [try halt(3, O) catch error:E -> E end]) ||
                O <- [[{flush_timeout, -1}], [{flush_timeout, a}], [{flush_timeout, 1 bsl 70}],
                      [{flush_timeout, 0} | x], flush_timeout, [flush_timeout]]],
            halt(4, [{flush, false}, {flush_timeout, 0}])
    end.

%% The first line, and the status.
refused(Flags) ->
    Lines = [string:trim(L) || L <- string:lexemes(run(Flags ++ " -s erlang halt"), "\n")],
    [hd(Lines), ", ", lists:last(Lines)].

run(Flags) -> run(Flags, "").

run(Flags, Redirected) ->
    {ok, [[Program]]} = init:get_argument(progname),
    Dir = filename:dirname(code:which(?MODULE)),
    string:trim(os:cmd(Program ++ " -pa " ++ Dir ++ " -kernel logger_level none -noshell -noinput " ++ Flags ++ Redirected ++ " 2>&1; echo \" $?\"")).
