%% Ports with packets of 1, 2 and 4 bytes, lines, and streams, both ways.
-module(port_packets).
-export([main/0]).
main() ->
    [begin P = open_port({spawn, "cat"}, [{packet, N}, binary]), [port_command(P, binary:copy(<<"x">>, L)) || L <- [0, 1, 100]],
    t:p(N, [receive {P, {data, D}} -> byte_size(D) after 2000 -> none end || _ <- [1, 2, 3]]),
    t:p(t:c(fun() -> port_command(P, binary:copy(<<"x">>, 300)) end)), catch port_close(P) end || N <- [1, 2, 4]],
    [begin P = open_port({spawn, "printf 'ab\\ncdefgh\\n\\nlast'"}, [{line, L}, binary, eof]),
    t:p(L, all(P)) end || L <- [1, 3, 6, 100]], P = open_port({spawn_executable, "/bin/echo"}, [{args, ["a b", <<"c">>, "é"]}, binary, exit_status, {arg0, "ek"}]),
    t:p(all(P)), [t:p(O, t:c(fun() -> open_port({spawn, "cat"}, O) end)) || O <- [[bad], [{packet, 3}], [{line, 0}], [{line, a}], [{env, bad}], [{env, [{"A", 1}]}], [{cd, 1}], [{args, ["x"]}], x, [binary | x]]], [t:p(N, t:c(fun() -> open_port(N, []) end)) || N <- [{spawn, ""}, {spawn, a}, {spawn_executable, "/nope"}, {spawn_executable, "/etc/passwd"}, {spawn_driver, "nope"}, {fd, a, b}, {fd, -1, 1}, bad, {spawn, [0]}]].
all(P) -> receive {P, {data, D}} -> [D | all(P)]; {P, eof} -> port_close(P), [eof]; {P, {exit_status, S}} -> [{exit, S}] after 3000 -> [timeout] end.
