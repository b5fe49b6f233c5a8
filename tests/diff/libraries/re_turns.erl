-module(re_turns).
%% Matches that take long: others run in between, and the process may be asked, collected, ended.
-export([main/0]).

%% Takes for ever (many hours) where no limit is met: each start has a limit of its own.
endless() ->
    re:run(lists:duplicate(40, $a) ++ "!", "(a+)+$", [{match_limit, 2000000000}, {match_limit_recursion, 2000000000}]).

main() ->
    killed(),
    exits(),
    beside(),
    asked(),
    answers(),
    unicode(),
    %% PCRE2 refuses these patterns.
    erlang:system_info(otp_release) < "28" andalso moved().

killed() ->
    {P, M} = spawn_monitor(fun endless/0),
    receive after 100 -> ok end,
    T = erlang:monotonic_time(millisecond),
    exit(P, kill),
    receive {'DOWN', M, process, P, R} -> io:format("~p~n", [R]) end,
    io:format("soon: ~p~n", [erlang:monotonic_time(millisecond) - T < 2000]).

exits() ->
    Ps = [spawn_monitor(fun endless/0) || _ <- lists:seq(1, 50)],
    receive after 200 -> ok end,
    [exit(P, stop) || {P, _} <- Ps],
    io:format("~p~n", [lists:usort([receive {'DOWN', M, process, P, R} -> R end || {P, M} <- Ps])]).

%% Processes that match for ever, more than there are schedulers, and one that counts.
beside() ->
    Ps = [spawn(fun endless/0) || _ <- lists:seq(1, 2 * erlang:system_info(schedulers))],
    T = erlang:monotonic_time(millisecond),
    tick(20),
    Took = erlang:monotonic_time(millisecond) - T,
    [exit(P, kill) || P <- Ps],
    io:format("ticks: ~p~n", [Took < 10000 orelse Took]).

tick(0) -> ok;
tick(N) -> receive after 1 -> tick(N - 1) end.

asked() ->
    P = spawn(fun endless/0),
    receive after 50 -> ok end,
    P ! hello,
    io:format("~p~n", [erlang:process_info(P, message_queue_len)]),
    {status, S} = erlang:process_info(P, status),
    io:format("~p~n", [lists:member(S, [running, runnable])]),
    {reductions, R1} = erlang:process_info(P, reductions),
    receive after 50 -> ok end,
    {reductions, R2} = erlang:process_info(P, reductions),
    io:format("~p~n", [R2 > R1]),
    true = erlang:suspend_process(P),
    {reductions, R3} = erlang:process_info(P, reductions),
    receive after 20 -> ok end,
    io:format("~p~n", [{reductions, R3} =:= erlang:process_info(P, reductions)]),
    true = erlang:resume_process(P),
    exit(P, kill).

%% Answers are the same whether a match is stopped or not.
answers() ->
    S = binary:copy(<<"The quick brown fox, 17 years old. ">>, 5000),
    [io:format("~s: ~p~n", [Re, short(re:run(S, Re, O))]) || {Re, O} <-
        [{"(\\w+) fox.*(\\d)", [dotall]},
         {"(?<=\\d )years(?!.*jumps)", [dotall, {capture, all, binary}]},
         {"(\\w+ )*zebra", []},
         {"[a-z]+$", [multiline]},
         {"\\A(?:[^.]+\\. )+\\z", [{capture, first, index}]},
         {"x=(\\d+)", [global]},
         {"(\\d+) y", [global, {capture, all_but_first, list}]},
         {"([a-z]+)+[!?]", [report_errors, anchored]},
         {"([A-Za-z]|\\w|.)+[!?]", [report_errors]},
         {"([A-Za-z]|\\w)+[!?]", [report_errors, {match_limit, 10}]},
         {"(.)+[!?]", [report_errors, dotall, {match_limit_recursion, 100}]},
         {"old", [{offset, 174000}]},
         {"\\G.", [{offset, 100000}]},
         {"(*COMMIT)fox", []},
         {"(?s)(?:.(?!zebra))*+", []}]],
    io:format("~p~n", [erlang:phash2(re:replace(S, "(\\w+) (\\w+)", "\\2 &", [global, {return, binary}]))]),
    io:format("~p~n", [length(re:split(S, "[, .]+", [trim]))]),
    Deep = [[[[<<"ab">>], $c] || _ <- lists:seq(1, 100000)], <<"d">>],
    io:format("~p~n", [re:run(Deep, "cd$")]),
    io:format("~p~n", [try re:run([Deep, a], "cd$") catch error:R -> R end]).

short({match, L}) when length(L) > 3 -> {match, length(L), hd(L), lists:last(L)};
short({match, [B | _] = L}) when is_binary(B) -> {match, [{byte_size(X), erlang:phash2(X)} || X <- L]};
short(R) -> R.

unicode() ->
    S = binary:copy(<<"åäö grön €"/utf8>>, 20000),
    io:format("~p~n", [short(re:run(S, <<"n €"/utf8>>, [unicode, global]))]),
    io:format("~p~n", [short(re:run(S, <<"\\w+$"/utf8>>, [unicode, ucp]))]),
    io:format("~p~n", [short(re:run(S, <<"€+$"/utf8>>, [unicode]))]),
    Half = binary:part(S, 0, byte_size(S) - 1),
    [io:format("~p~n", [try re:run(X, "x", [unicode, {offset, O}]) catch error:E -> E end]) || {X, O} <-
        [{S, 0}, {S, 2}, {<<S/binary, 255, "x">>, 0}, {S, byte_size(S)}, {Half, 0}]],
    %% Parts of what was read as text before.
    [io:format("~p ", [try re:run(binary:part(S, F, L), "^.", [unicode]) catch error:E -> E end])
     || F <- [0, 1, 2, 3, 5], L <- [100, 101, 102, 103, 104, 105]],
    %% Begun as text, gone on otherwise.
    B = <<S/binary, 195>>,
    io:format("~n~p~n", [try re:run(B, "x", [unicode]) catch error:E -> E end]),
    C = <<B/binary, 165>>,
    io:format("~p~n", [re:run(C, <<"å$"/utf8>>, [unicode])]).

%% A lookaround may move the match's beginning, even behind its end.
moved() ->
    [io:format("~p ~p~n", [Re, re:run("abcab", Re, O)]) || {Re, O} <-
        [{"(?=a\\Kb)ab", []}, {"(?=a\\Kb)ab", [global, {capture, all, list}]}, {"(?=ab\\K)", []},
         {"(?=ab\\K)ab", [global]}, {"(?=ab\\K)a", [global]}, {"(?<=a\\Kb)c", []}, {"(?!b\\K)a", []}]],
    io:format("~p~n", [re:replace("abcab", "(?=a\\Kb)ab", "<&>", [global, {return, list}])]),
    io:format("~p~n", [re:split("abcab", "(?=a\\Kb)ab", [trim, {return, list}])]),
    [io:format("~w ~p~n", [Re, re:run(S, Re, [])]) || {S, Re} <-
        [{"?", [$^, $\\, $c, 127]}, {"A", [$\\, $c, 1]}, {[0, $Z], "\\xZ"}, {[0], "[\\x]"}, {[28, $d], "\\c\\d"}]],
    io:format("~p~n", [re:compile([$\\, $c, 200])]).
