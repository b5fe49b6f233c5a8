%% What the machine itself writes to standard error, byte by byte: lines end in "\r\n", texts at a zero.
-module(emulator_texts).
-export([main/0, child/1]).

main() ->
    t:p({version, run("-version")}),
    t:p({flag, hd(binary:split(run("+hms x"), <<"\n">>))}),
    t:p({debug, run("+v -noshell -s erlang halt")}),
    [t:p({How, run("-noshell -pa " ++ beams() ++ " -run emulator_texts child " ++ How)}) || How <- ["display", "slogan", "zero"]].

child(["display"]) -> erlang:display({a, "b\n"}), halt();
child(["slogan"]) -> halt("the\nend");
child(["zero"]) -> halt([$a, 0, $b]).

beams() -> filename:dirname(code:which(?MODULE)).

run(Args) ->
    Env = [{"ERL_CRASH_DUMP_SECONDS", "0"}],
    P = open_port({spawn_executable, "/bin/sh"},
                  [{args, ["-c", "exec $VM $VM_FLAGS " ++ Args ++ " 2>&1"]}, {env, Env}, exit_status, binary]),
    all(P, []).

all(P, Acc) ->
    receive
        {P, {data, B}} -> all(P, [Acc, B]);
        {P, {exit_status, _}} -> iolist_to_binary(Acc)
    after 20000 -> exit(timeout)
    end.
