%% Linked-in drivers: descriptors that they select, and answers that are binaries. The driver is
%% compiled here.
-module(linked_select).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    Source = filename:join(os:getenv("here"), "linked_select.c"),
    "" = os:cmd("cc -D_GNU_SOURCE -Wall -shared -fPIC -o linked_select.so " ++ Source),
    ok = erl_ddll:load_driver(".", "linked_select"),
    reads(),
    writes(),
    answers(),
    many(),
    t:p(unload, erl_ddll:unload_driver("linked_select")).

open() -> open_port({spawn_driver, "linked_select"}, [binary, eof]).
got(P) -> receive {P, X} -> X after 5000 -> nothing end.
bytes(_, 0) -> [];
bytes(P, N) ->
    {data, B} = got(P),
    [B | bytes(P, N - byte_size(B))].

reads() ->
    P = open(),
    port_command(P, "0123456789"),
    t:p(read, bytes(P, 10)),
    port_control(P, 2, ""),
    port_command(P, "unread"),
    t:p(unread, receive {P, X} -> X after 50 -> nothing end),
    port_control(P, 2, "again"),
    t:p(read, bytes(P, 6)),
    port_command(P, ""),
    t:p('end', got(P)),
    t:pc(no_descriptor, fun() -> port_control(P, 10, "") end),
    port_close(P).

writes() ->
    P = open(),
    t:p(select, port_control(P, 1, "")),
    t:p(writable, [got(P) || _ <- [1, 2, 3]]),
    t:p(silent, receive {P, X} -> X after 50 -> nothing end),
    port_control(P, 1, ""),
    t:p(writable, [got(P) || _ <- [1, 2, 3]]),
    port_close(P),
    Q = open(),
    t:p(closed, port_control(Q, 8, "")),
    t:p(by_none, port_control(Q, 9, "")),
    port_close(Q).

answers() ->
    P = open(),
    Big = binary:copy(<<"0123456789">>, 100),
    t:p(list, port_control(P, 5, "abc")),
    port_control(P, 3, "on"),
    t:p(binary, port_control(P, 4, "abc")),
    t:p(big, port_control(P, 4, Big) =:= <<Big/binary, Big/binary>>),
    t:p(empty, port_control(P, 4, "")),
    t:p(room, port_control(P, 5, "abc")),
    t:p(none, port_control(P, 6, "")),
    t:p(counts, port_control(P, 7, "")),
    t:pc(bad, fun() -> port_control(P, 99, "") end),
    port_control(P, 3, ""),
    t:p(list, port_control(P, 5, "abc")),
    port_close(P).

%% Each port hears of its own pipe.
many() ->
    Ps = [open() || _ <- lists:seq(1, 100)],
    [port_command(P, integer_to_list(1000 + N)) || {N, P} <- lists:zip(lists:seq(1, 100), Ps)],
    t:p(many, [got(P) || P <- Ps] =:= [{data, integer_to_binary(1000 + N)} || N <- lists:seq(1, 100)]),
    [port_close(P) || P <- Ps],
    t:p(rest, receive X -> X after 20 -> nothing end).
