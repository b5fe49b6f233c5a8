%% since 27
%% The flag -S: the function behind it gets all arguments that follow, whatever they look like.
-module(since27_start_flag).
-export([main/0, show/1, start/0, start/1]).

main() ->
    [t:p({Args, run("", Args)})
     || Args <- ["-S since27_start_flag", "-S since27_start_flag show", "-S since27_start_flag show a b",
                 "-S since27_start_flag show a -- b", "-S since27_start_flag show +S 1 -noinput -extra x -S y -run z",
                 "plain -flag x -- more -S since27_start_flag show 1 2", "-flag -S", "-S no_such_module f",
                 "-run since27_start_flag start -S since27_start_flag show last"]],
    t:p({environment, run("ERL_ZFLAGS='-last z' ERL_FLAGS='-flags' ERL_AFLAGS='-first'", "-S since27_start_flag show x")}).

%% Status and output of a machine like this one (VM, as the runner has it).
run(Environment, Args) ->
    Beams = filename:dirname(code:which(?MODULE)),
    Script = Environment ++ " exec $VM $VM_FLAGS -noinput -kernel logger_level none -pa " ++ Beams ++ " " ++ Args,
    P = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Script]}, exit_status, stderr_to_stdout, in]),
    output(P, []).

output(P, Said) ->
    receive
        {P, {data, D}} -> output(P, [Said, D]);
        {P, {exit_status, N}} -> {N, tidy(lists:flatten(Said))}
    end.

%% What a failing start says depends on the machine's stack traces; what it is about does not.
tidy(Said) ->
    case re:run(Said, "Runtime terminating|no_such_module|Error!", [{capture, first, list}]) of
        {match, [About]} -> {about, About};
        nomatch -> Said
    end.

start() -> say(start, none).
start(Args) -> say(start, Args), halt().
show(Args) -> say(show, Args), halt().

say(What, Args) ->
    Flags = [F || {F, _} = Flag <- init:get_arguments(), lists:member(F, [noshell, noinput, flag, first, flags, last, 'S']), Flag =/= {noinput, []}],
    io:format("~p ~p ~p ~p~n", [What, Args, init:get_plain_arguments(), Flags]).
