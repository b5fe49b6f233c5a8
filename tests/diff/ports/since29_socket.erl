%% since 29
%% What the module socket has more since OTP 29: several messages by one call, receives that select
%% the descriptor again, several addresses.
-module(since29_socket).
-export([main/0]).
-import(s, [any/0, pair/0, close/1]).

main() -> several(), wrong(), selecting(), streams(), control(), addresses(), values().

udp() ->
    {ok, S} = socket:open(inet, dgram, udp),
    ok = socket:bind(S, any()),
    {ok, A} = socket:sockname(S),
    {S, A}.

iovs({ok, Ms}) -> {ok, [{maps:get(iov, M), maps:get(flags, M), lists:sort(maps:keys(M))} || M <- Ms]};
iovs(E) -> E.

several() ->
    {S, A} = udp(), {R, B} = udp(),
    t:p(socket:recvmmsg(R, 3, 0, 0, [], 0)),
    t:p(socket:sendmmsg(S, [#{addr => B, iov => [<<"one">>]}, #{addr => B, iov => [<<"t">>, <<"wo">>]},
                            #{addr => B, iov => []}], [], 1000)),
    t:p(iovs(socket:recvmmsg(R, 2, 0, 0, [], 1000))),
    {ok, [#{addr := From}]} = {ok, Ms} = socket:recvmmsg(R, 2, 0, 0, [], 1000),
    t:p({From =:= A, iovs({ok, Ms})}),
    ok = socket:connect(S, B),
    t:p(socket:sendmmsg(S, [#{iov => [integer_to_binary(N)]} || N <- lists:seq(1, 100)], [], 1000)),
    {ok, Hundred} = socket:recvmmsg(R, 100, 16, 0, [], 1000),
    t:p([D || #{iov := [D]} <- Hundred] =:= [integer_to_binary(N) || N <- lists:seq(1, 100)]),
    t:p(socket:sendmmsg(S, [#{iov => [<<"longer than the room">>]}], [], 1000)),
    t:p(iovs(socket:recvmmsg(R, 5, 6, 0, [], 1000))),
    t:p(socket:sendmmsg(S, [], [], 1000)),
    Counters = fun(X) -> #{counters := C} = socket:info(X),
                         maps:with([read_byte, read_pkg, read_pkg_max, read_tries, write_byte, write_pkg,
                                    write_tries], C) end,
    t:p([Counters(X) || X <- [S, R]]),
    {select, {select_info, Op, H}} = socket:recvmmsg(R, 5, 0, 0, [], nowait),
    t:p(Op),
    ok = socket:send(S, <<"later">>),
    receive {'$socket', R, select, H} -> t:p(select) end,
    t:p(iovs(socket:recvmmsg(R, 5, 0, 0, [], nowait))),
    {select, Info} = socket:recvmmsg(R, 5, 0, 0, [], nowait),
    t:p(socket:cancel(R, Info)),
    t:p(socket:recvmmsg(R, 5, 0, 0, [], 20)),
    close([S, R]),
    t:p(socket:recvmmsg(R, 5, 0, 0, [], 0)),
    t:p(socket:sendmmsg(S, [#{iov => [<<"x">>]}], [], 1000)).

wrong() ->
    {S, A} = udp(),
    Ref = element(2, S),
    Send = [[#{addr => A}], [#{addr => A, iov => [foo]}], [#{addr => foo, iov => []}], [foo],
            [#{addr => A, iov => [<<"x">> | <<"y">>]}], [#{addr => A, iov => [<<"x">>], ctrl => foo}],
            [#{addr => A, iov => [<<"x">>], ctrl => [#{level => ip, type => foo, value => 1}]}],
            [#{addr => A, iov => [<<"x">>]} | #{}], foo, [#{iov => [<<"no address">>]}]],
    t:p([t:c(fun() -> prim_socket:sendmmsg(Ref, M, [], make_ref()) end) || M <- Send]),
    Receive = [[0, 0, 0], [-1, 0, 0], [1 bsl 32, 0, 0], [1, 1 bsl 70, 0], [1, 0, -1], [foo, 0, 0], [1, 0, foo]],
    t:p([t:c(fun() -> prim_socket:recvmmsg(Ref, V, B, C, [], make_ref()) end) || [V, B, C] <- Receive]),
    t:p(t:c(fun() -> prim_socket:recvmmsg(Ref, 1, 0, 0, [], foo) end)),
    t:p(t:c(fun() -> socket:recvmmsg(S, 0, 0, 0, [], 0) end)),
    close([S]).

%% a receive with data that selects the descriptor again
selecting() ->
    {L, C, A} = pair(),
    ok = socket:setopt(A, {otp, select_read}, true),
    t:p(socket:getopt(A, {otp, select_read})),
    ok = socket:send(C, <<"abc">>),
    {ok, 3} = wait(A, 3),
    {select_read, {{select_info, recv, H}, <<"abc">>}} = socket:recv(A, 0, nowait),
    t:p(maps:get(num_readers, socket:info(A))),
    ok = socket:send(C, <<"de">>),
    receive {'$socket', A, select, H} -> t:p(select) end,
    t:p(socket:recv(A, 2, 0)),
    t:p(maps:get(num_readers, socket:info(A))),
    {select, I} = socket:recv(A, 0, nowait),
    t:p(socket:cancel(A, I)),
    t:p(maps:get(num_readers, socket:info(A))),
    ok = socket:setopt(A, {otp, select_read}, false),
    close([L, C, A]),
    {U, To} = udp(),
    ok = socket:setopt(U, {otp, select_read}, true),
    [ok = socket:sendto(U, <<"d">>, To) || _ <- [1, 2, 3]],
    {select_read, {{select_info, recvfrom, _}, {_, D1}}} = socket:recvfrom(U, 0, nowait),
    {select_read, {{select_info, recvmsg, _}, #{iov := D2}}} = socket:recvmsg(U, nowait),
    {select_read, {{select_info, recvmmsg, H3} = I3, [#{iov := D3}]}} = socket:recvmmsg(U, 4, 0, 0, [], nowait),
    t:p([D1, D2, D3]),
    t:p(case socket:cancel(U, I3) of ok -> ok; {error, {invalid, _}} -> sent end),
    receive {'$socket', U, select, H3} -> t:p(select) after 0 -> t:p(none) end,
    close([U]).

wait(S, N) ->
    case socket:ioctl(S, nread) of
        {ok, N} -> {ok, N};
        {ok, _} -> timer:sleep(2), wait(S, N)
    end.

streams() ->
    {L, C, A} = pair(),
    t:p(socket:sendmmsg(C, [#{iov => [<<"ab">>]}, #{iov => [<<"cd">>]}], [], 1000)),
    {ok, 4} = wait(A, 4),
    t:p(iovs(socket:recvmmsg(A, 1, 3, 0, [], 1000))),
    t:p(iovs(socket:recvmmsg(A, 1, 3, 0, [], 1000))),
    ok = socket:shutdown(C, write),
    t:p(socket:recv(A, 4)),
    %% others who wait are told of the end
    {L2, C2, A2} = pair(),
    Me = self(),
    Ps = [begin
              P = spawn_link(fun() -> Me ! {self(), socket:recvfrom(A2, 0)} end),
              readers(A2, N),
              P
          end || N <- [1, 2, 3]],
    close([C2]),
    t:p([receive {P, R} -> R end || P <- Ps]),
    close([L, C, A, L2, A2]).

readers(S, N) ->
    case socket:info(S) of
        #{num_readers := N} -> ok;
        #{} -> timer:sleep(2), readers(S, N)
    end.

control() ->
    {S, A} = udp(), {R, B} = udp(),
    [ok = socket:setopt(R, O, true) || O <- [{socket, timestampns}, {ip, recvtos}, {ip, recvttl}]],
    ok = socket:sendmsg(S, #{addr => B, iov => [<<"x">>],
                             ctrl => [#{level => ip, type => tos, value => af21}]}),
    {ok, #{ctrl := Cs}} = socket:recvmsg(R),
    t:p([case C of
             #{type := timestampns, value := #{sec := Sec, nsec := N} = V} ->
                 {timestampns, map_size(V), Sec > 1000000, N < 1000000000};
             #{type := T, value := V} -> {T, V}
         end || C <- Cs]),
    ok = socket:sendmmsg(S, [#{addr => B, iov => [<<"y">>], ctrl => [#{level => ip, type => ttl, value => 9}]},
                             #{addr => B, iov => [<<"z">>]}], [], 1000),
    {ok, Ms} = socket:recvmmsg(R, 2, 0, 0, [], 1000),
    t:p([[{T, V} || #{type := T, value := V} <- C, T =/= timestampns] || #{ctrl := C} <- Ms]),
    t:p(is_map(A)),
    close([S, R]).

addresses() ->
    {ok, S} = socket:open(inet, stream, tcp),
    {ok, V} = socket:open(inet6, stream, tcp),
    Ref = element(2, S),
    t:p([t:c(F) || F <- [
        fun() -> socket:connect(S, [any()]) end,
        fun() -> socket:connect(S, []) end,
        fun() -> socket:connect(S, [foo]) end,
        fun() -> prim_socket:connect(Ref, make_ref(), [#{family => inet6, addr => loopback}]) end,
        fun() -> prim_socket:connect(element(2, V), make_ref(), [any()]) end,
        fun() -> prim_socket:bind(Ref, [any()], add) end,
        fun() -> prim_socket:bind(Ref, [any()], foo) end,
        fun() -> prim_socket:bind(Ref, [], add) end,
        fun() -> prim_socket:peeloff(Ref, 1) end,
        fun() -> prim_socket:socknames(Ref, 1) end,
        fun() -> prim_socket:socknames(Ref, 1 bsl 32) end,
        fun() -> prim_socket:peernames(Ref, foo) end,
        fun() -> socket:open(inet, seqpacket, sctp) end]]),
    close([S, V]).

values() ->
    {ok, S} = socket:open(inet, stream, tcp),
    t:p([t:c(fun() -> socket:getopt(S, O, V) end) || {O, V} <- [{{socket, keepalive}, foo}, {{ip, ttl}, #{}},
                                                                {{otp, debug}, 1}, {{foo, bar}, 1}]]),
    close([S]),
    {ok, M} = socket:open(inet, stream, mptcp),
    #{counters := #{num_ptcp := N}} = socket:info(),
    t:p({maps:get(protocol, socket:info(M)), N}),
    close([M]).
