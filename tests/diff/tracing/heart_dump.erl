%% A node that ends with a crash dump tells its heart first, so that heart waits for the file. Without
%% a limit of seconds none is written: heart is to start the next node at once.
-module(heart_dump).
-export([main/0, child/1]).

main() ->
    D = t:tmp("heart_dump"),
    [t:p({Seconds, How, run(D, How, Seconds), files(D), stop(D)})
     || How <- ["plain", "renamed"], Seconds <- [false, "0", "20", "-1"]],
    file:del_dir_r(D).

%% ---- the one that ends ----
child(["plain"]) -> halt("the end");
child(["renamed"]) ->
    %% Heart is whoever is registered so, not a program of that name.
    Port = whereis(heart_port),
    unregister(heart_port),
    register(other_name, Port),
    halt("the end").

%% ---- running it ----
%% Everything that the node and its heart say, without times, in the order of the alphabet: both write at once.
run(D, How, Seconds) ->
    [file:delete(filename:join(D, F)) || F <- files(D)],
    Beams = filename:dirname(code:which(?MODULE)),
    Script = "$VM $VM_FLAGS -heart -noshell -kernel logger_level none -pa " ++ Beams ++
             " -run heart_dump child " ++ How ++ " 2>&1 </dev/null | cat",
    Env = [{"ERL_CRASH_DUMP", false}, {"ERL_CRASH_DUMP_BYTES", false}, {"ERL_CRASH_DUMP_SECONDS", Seconds},
           {"HEART_COMMAND", "echo again >again"}],
    P = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Script]}, {cd, D}, {env, Env}, exit_status, binary]),
    said(all(P, [])).

all(P, Acc) ->
    receive
        {P, {data, B}} -> all(P, [Acc, B]);
        {P, {exit_status, _}} -> iolist_to_binary(Acc)
    after 60000 -> exit(timeout)
    end.

said(B) ->
    Parts = [<<"the end">>, <<"has closed">>, <<"is crashing">>, <<"Waiting for dump">>, <<"being written to">>, <<"done">>, <<"Executed">>],
    [P || P <- Parts, binary:match(B, P) =/= nomatch].

files(D) -> {ok, Fs} = file:list_dir(D), lists:sort(Fs).
stop(D) -> file:read_file(filename:join(D, "again")).
