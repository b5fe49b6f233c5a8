%% The two numbers of pids: since OTP 26 the first goes to 2^28, before to 2^15.
-module(pid_numbers).
-export([main/0]).
main() ->
    P = lists:last([spawn(fun() -> ok end) || _ <- lists:seq(1, 40000)]),
    [_, N | _] = string:split(pid_to_list(P), ".", all),
    t:p(list_to_integer(N) > 32767),
    [t:p({S, t:c(fun() -> pid_to_list(list_to_pid(S)) end)}) ||
        S <- ["<0.50000.0>", "<0.268435455.0>", "<0.268435456.0>", "<0.32767.0>", "<0.32768.0>", "<0.123.4>", "<0.1.15>", "<0.1.99999999999>"]],
    Q = spawn(fun() -> receive stop -> ok end end),
    t:p({binary_to_term(term_to_binary(Q)) =:= Q, list_to_pid(pid_to_list(Q)) =:= Q, is_process_alive(Q)}),
    t:p([pid_to_list(T) || T <- lists:sort([list_to_pid(S) || S <- ["<0.70.1>", "<0.90.0>", "<0.100.0>", "<0.80.2>", "<0.32767.0>"]])]),
    [t:p({S, t:c(fun() -> erlang:phash2(list_to_pid(S)) end)}) ||
        S <- ["<0.70.1>", "<0.90.0>", "<0.32767.0>", "<0.40000.0>", "<0.268435455.1>"]],
    <<131, 88, _/binary>> = B = term_to_binary(list_to_pid("<0.32767.3>")),
    Size = byte_size(B) - 12, <<_:Size/binary, Number:32, Serial:32, _:32>> = B,
    t:p({Number, Serial}).
