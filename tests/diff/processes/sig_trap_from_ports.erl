%% Exits of ports reach their owner in order with their data.
-module(sig_trap_from_ports).
-export([main/0]).
main() ->
    process_flag(trap_exit, true), [t:p(O, one(O)) || O <- [[], [exit_status], [eof], [exit_status, eof], [stream], [binary], [{line, 3}], [in], [exit_status, {line, 4}, binary]]].
one(O) -> P = open_port({spawn, "printf abcdefg"}, O), R = collect(P, []), catch port_close(P), {R, t:flush()}.
collect(P, A) -> receive {P, {data, D}} -> collect(P, [D | A]); {P, X} -> collect(P, [X | A]); {'EXIT', P, R} -> norm([{exit, R} | A]) after 300 -> norm([timeout | A]) end.
norm(A) -> {lists:sort([X || X <- A, is_tuple(X) orelse is_atom(X)]), iolist_size([X || X <- A, is_list(X) orelse is_binary(X)])}.
