%% A machine ends, with status 1 and a crash dump, when one of its system processes does.
-module(system_process_ends).
-export([main/0]).

main() ->
    [ended(Process, Reason) || Process <- ["init", "erts_code_purger"], Reason <- ["kill", "{some, \"reason\"}"]],
    ended("+hmax 1").

ended(Process, Reason) ->
    t:p({Process, Reason}),
    said("-eval 'P = whereis(" ++ Process ++ "), exit(P, " ++ Reason ++ "), receive after 100 -> ok end, "
         "io:format(\"goes on\"), halt().'").

ended(Flags) -> said(Flags).

said(Flags) ->
    {ok, [[Program]]} = init:get_argument(progname),
    Out = os:cmd(Program ++ " " ++ Flags ++ " -kernel logger_level none -noshell -noinput 2>&1; echo $?"),
    Lines = [string:trim(L) || L <- string:lexemes(Out, "\n")],
    t:p([L || L <- Lines, string:prefix(L, "(no logger") =:= nomatch]).
