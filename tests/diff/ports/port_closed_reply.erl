%% A port that is closed by a message answers `closed` once its output is written, not before.
-module(port_closed_reply).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    [closed(Bytes) || Bytes <- [0, 100, 200000]].

%% The program reads when it is told to; until then a pipe takes some of the output.
closed(Bytes) ->
    May = lists:concat([reads, Bytes]),
    P = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", t:until(May) ++ "cat >/dev/null"]}]),
    port_command(P, lists:duplicate(Bytes, $x)),
    P ! {self(), close},
    t:p({Bytes, exit, receive {'EXIT', P, Why} -> Why after 5000 -> none end}),
    Wait = case Bytes of 200000 -> 300; _ -> 5000 end,
    t:p({Bytes, before_it_reads, answer(P, Wait)}),
    t:now(May),
    t:p({Bytes, later, answer(P, case Bytes of 200000 -> 5000; _ -> 0 end)}).

answer(P, Wait) -> receive {P, closed} -> closed after Wait -> none end.
