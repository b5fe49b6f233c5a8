%% A port that is closed by a message answers `closed` once its output is written, not before.
-module(port_closed_reply).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    [closed(Bytes) || Bytes <- [0, 100, 200000]].

closed(Bytes) ->
    P = open_port({spawn, "sh -c 'sleep 1; cat >/dev/null'"}, []),
    port_command(P, lists:duplicate(Bytes, $x)),
    Begin = erlang:monotonic_time(millisecond),
    P ! {self(), close},
    receive {'EXIT', P, Why} -> t:p(exit, {Why, early(Begin)}) after 5000 -> t:p(no_exit) end,
    receive {P, closed} -> t:p(closed, early(Begin)) after 5000 -> t:p(never) end.

early(Begin) -> erlang:monotonic_time(millisecond) - Begin < 500.
