%% since 27
%% Receives of the module socket since OTP 27: less comes than was asked for, the stream ends, polls.
-module(since27_socket_receive).
-export([main/0]).
-import(s, [any/0, pair/0, close/1, arrived/2]).

main() -> partial(), kept(), peeked(), rounds(), ends(), counters(), waiting().

read_counters(S) ->
    #{counters := C} = socket:info(S),
    maps:with([read_byte, read_fails, read_pkg, read_pkg_max, read_tries, read_waits], C).

readers(S, N) ->
    case socket:info(S) of
        #{num_readers := N} -> ok;
        #{} -> timer:sleep(2), readers(S, N)
    end.

%% less comes than is asked for
partial() ->
    {L, C, A} = pair(),
    t:p(socket:recv(A, 4, 0)),
    ok = socket:send(C, <<"abc">>), arrived(A, 3),
    t:p(socket:recv(A, 4, 0)),
    ok = socket:send(C, <<"def">>), arrived(A, 3),
    t:p(socket:recv(A, 4, 30)),
    t:p(socket:recv(A, 4, 30)),
    ok = socket:send(C, <<"ghij">>), arrived(A, 4),
    t:p(socket:recv(A, 4, 0)),
    t:p(socket:recv(A, 0, 0)),
    ok = socket:send(C, <<"kl">>), arrived(A, 2),
    Me = self(),
    spawn_link(fun() -> Me ! {got, socket:recv(A, 4)} end),
    arrived(A, 0),
    ok = socket:send(C, <<"mn">>),
    receive {got, R} -> t:p(R) end,
    t:p(read_counters(A)),
    close([L, C, A]).

%% what a call that does not wait has read, and the calls that follow
kept() ->
    {L, C, A} = pair(),
    [begin
         ok = socket:send(C, <<"0123456789">>), arrived(A, 10),
         H = make_ref(),
         t:p({length(Next), case socket:recv(A, 20, [], H) of
                        {select, {select_info, recv, H}} -> select;
                        {select, {{select_info, recv, H}, D}} -> {select, D}
                    end}),
         t:p(socket:cancel(A, {select_info, recv, H})),
         t:p([socket:recv(A, N, 0) || N <- Next])
     end || Next <- [[0], [4, 4], [10], [4, 0], [12, 0]]],
    t:p(read_counters(A)),
    close([L, C, A]).

peeked() ->
    {L, C, A} = pair(),
    ok = socket:send(C, <<"0123456789">>), arrived(A, 10),
    t:p(socket:recv(A, 4, [peek], 0)),
    t:p(socket:recv(A, 10, [], 0)),
    close([L, C, A]).

%% several buffers for one call
rounds() ->
    {L, C, A} = pair(),
    ok = socket:setopt(A, {otp, rcvbuf}, {3, 4}),
    ok = socket:send(C, <<"0123456789abcdefghij">>), arrived(A, 20),
    t:p(socket:recv(A, 0, 0)),
    t:p(socket:recv(A, 4, 0)),
    t:p(socket:recv(A, 0, 0)),
    t:p(socket:recv(A, 0, 0)),
    t:p(read_counters(A)),
    close([L, C, A]).

%% the stream ends within what is asked for
ends() ->
    [begin
         {L, C, A} = pair(),
         ok = socket:send(C, <<"abc">>), arrived(A, 3),
         ok = socket:shutdown(C, write),
         t:p(Recv(A)), t:p(Recv(A)),
         t:p(read_counters(A)),
         close([L, C, A])
     end || Recv <- [fun(A) -> socket:recv(A, 5) end, fun(A) -> socket:recv(A, 5, 0) end,
                     fun(A) -> socket:recv(A, 0) end,
                     fun(A) -> case socket:recvfrom(A, 0) of {ok, {_, D}} -> {ok, D}; E -> E end end,
                     fun(A) -> case socket:recvmsg(A) of {ok, #{iov := D}} -> {ok, D}; E -> E end end]].

counters() ->
    {ok, U} = socket:open(inet, dgram, udp),
    ok = socket:bind(U, any()),
    {ok, To} = socket:sockname(U),
    [ok = socket:sendto(U, <<"12345">>, To) || _ <- [1, 2]],
    {ok, {_, <<"12345">>}} = socket:recvfrom(U),
    {ok, #{iov := [<<"12345">>]}} = socket:recvmsg(U),
    t:p(socket:recvfrom(U, 0, 0)),
    t:p(read_counters(U)),
    t:p(maps:without([counters, owner], socket:info(U))),
    close([U]).

%% a poll while another process waits
waiting() ->
    {L, C, A} = pair(),
    Me = self(),
    P = spawn_link(fun() -> Me ! {self(), socket:recv(A, 3)} end),
    readers(A, 1),
    t:p(socket:recv(A, 0, 0)),
    t:p(socket:recvfrom(A, 0, 0)),
    Q = spawn_link(fun() -> Me ! {self(), socket:recv(A, 3)} end),
    readers(A, 2),
    ok = socket:send(C, <<"abcdef">>),
    receive {P, R1} -> t:p(R1) end,
    receive {Q, R2} -> t:p(R2) end,
    close([L, C, A]).
