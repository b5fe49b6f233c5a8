%% Ports: port_command options, connect, info, control and call of what cannot, closed ones.
-module(port_commands).
-export([main/0]).
main() ->
    process_flag(trap_exit, true), P = open_port({spawn, "cat"}, [binary, exit_status]),
    t:p([port_command(P, X) || X <- ["a", <<"b">>, [$c, [<<"d">>]], []]]),
    t:p(recv(P, 4, <<>>)), [t:p({F, A}, m:outcome(erlang, F, [P | A])) || {F, A} <- [{port_command, [a]}, {port_command, ["x", [bad]]}, {port_command, [[300]]}, {port_control, [1, "x"]}, {port_control, [a, "x"]}, {port_call, [1, x]}, {port_info, [bad]}, {port_connect, [a]}, {port_info, [connected]}, {port_info, [input]}, {port_info, [name]}, {port_info, [registered_name]}, {port_info, [links]}, {port_info, [monitors]}, {port_info, [queue_size]}, {port_info, [parallelism]}, {port_info, [locking]}, {port_info, [monitored_by]}, {port_set_data, [{x, 1}]}, {port_get_data, []}, {port_command, ["y", [nosuspend]]}, {port_command, ["z", [force]]}]],
    t:p([element(1, X) || X <- erlang:port_info(P)]),
    t:p(register(my_port, P)),
    t:p(my_port ! {self(), {command, "q"}}),
    t:p(recv(P, 3, <<>>)),
    t:p(erlang:port_info(my_port, registered_name)), S = self(), Q = spawn(fun() -> receive {P, {data, D}} -> S ! {got, D} end end),
    t:p(port_connect(P, Q)), P ! {Q, {command, "to q"}}, receive {got, D} -> t:p(D) after 1000 -> t:p(none) end, timer:sleep(20),
    t:p(is_list(erlang:port_info(P)) orelse gone),
    t:p([t:plain(X) || X <- t:flush()]), catch port_close(P), [t:p({F, A}, m:outcome(erlang, F, A)) || {F, A} <- [{port_close, [P]}, {port_command, [P, "x"]}, {port_info, [P]}, {port_connect, [P, self()]}, {port_close, [a]}, {port_info, [a]}, {port_command, [nobody, "x"]}, {port_get_data, [P]}, {unlink, [P]}]],
    t:p(whereis(my_port)).
recv(_, 0, A) -> A; recv(P, N, A) -> receive {P, {data, D}} -> recv(P, N - byte_size(D), <<A/binary, D/binary>>) after 2000 -> {short, A} end.
