%% since 27
%% What the module socket has more, or answers otherwise, since OTP 27.
-module(since27_socket).
-export([main/0]).
-import(s, [any/0, pair/0, close/1, arrived/2]).

main() -> accepting(), connecting(), options(), ioctls(), ranges(), nets(), commands(), backend().

accepting() ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, any()),
    ok = socket:listen(L),
    {ok, Addr} = socket:sockname(L),
    {select, {select_info, accept, R}} = socket:accept(L, nowait),
    {ok, C} = socket:open(inet, stream, tcp),
    ok = socket:connect(C, Addr),
    receive {'$socket', L, select, R} -> t:p(select) end,
    {ok, A} = socket:accept(L, nowait),
    States = fun(S) -> maps:with([rstates, wstates], socket:info(S)) end,
    t:p([States(S) || S <- [L, C, A]]),
    #{counters := N} = socket:info(L),
    t:p(maps:with([acc_success, acc_fails, acc_tries, acc_waits], N)),
    close([L, C, A]).

connecting() ->
    {ok, C} = socket:open(inet, stream, tcp),
    t:p(t:c(fun() -> socket:cancel(C, {select_info, connect, make_ref()}) end)),
    t:p(t:c(fun() -> socket:connect(C) end)),
    close([C]),
    %% a local socket whose queue is full
    {ok, L} = socket:open(local, stream),
    ok = socket:bind(L, #{family => local, path => <<0, "since27_socket", (list_to_binary(os:getpid()))/binary>>}),
    ok = socket:listen(L, 0),
    {ok, To} = socket:sockname(L),
    Cs = [begin {ok, S} = socket:open(local, stream), S end || _ <- [1, 2]],
    t:p([socket:connect(S, To, 20) || S <- Cs]),
    close([L | Cs]).

options() ->
    {ok, S} = socket:open(inet, stream, tcp),
    Set = [{{tcp, keepcnt}, 4}, {{tcp, keepidle}, 11}, {{tcp, keepintvl}, 12}, {{tcp, keepcnt}, foo},
           {{tcp, user_timeout}, 3000}, {{tcp, user_timeout}, -1}, {{tcp, congestion}, "reno"},
           {{tcp, congestion}, <<"reno", 0, "more">>}, {{tcp, congestion}, "no_such_congestion"},
           {{socket, bindtodevice}, <<"lo", 0>>},
           {{socket, timestampns}, true}, {{ip, tos}, reliability}, {{ip, tos}, mincost}, {{ip, tos}, ef},
           {{ip, tos}, nope}, {{ip, tos}, 16#b8}, {{ip, tos}, #{precedence => 5, tos => lowdelay}},
           {{ip, tos}, #{precedence => priority, tos => default}}, {{ip, tos}, #{precedence => foo, tos => 1}},
           {{ip, tos}, #{tos => 1}}, {{otp, select_read}, true}, {{otp, select_read}, 1},
           {{otp, rcvbuf}, 0}, {{otp, rcvbuf}, 1}, {{otp, rcvbuf}, {1, 0}}],
    [t:p({O, X, t:c(fun() -> socket:setopt(S, O, X) end), socket:getopt(S, O)}) || {O, X} <- Set],
    [t:p({N, [t:c(fun() -> socket:setopt(S, {ip, tos}, V) end), socket:getopt(S, {ip, tos})]})
     || {N, V} <- [{cs, cs3}, {af, af41}, {voice, voice_admit}, {le, le}, {nqb, nqb}]],
    t:p([lists:sort(socket:supports(options, L)) || L <- [socket, ip, ipv6, tcp, udp, sctp]]),
    t:p(lists:sort(maps:keys(maps:from_list(socket:supports())))),
    t:p([lists:sort(socket:supports(K)) || K <- [msg_flags, ioctl_requests, ioctl_flags]]),
    t:p([socket:is_supported(K) || K <- [ioctl_requests, ioctl_flags, protocols, options, msg_flags, sctp, foo]]),
    t:p([socket:is_supported(options, socket, K) || K <- [bsp_state, maxdg, max_msg_size, exclusiveaddruse,
                                                         timestampns, keepalive]]),
    t:p([socket:is_supported(options, tcp, K) || K <- [keepcnt, nopush, user_timeout, info]]),
    t:p([socket:is_supported(protocols, K) || K <- [igmp, mptcp, tcp, sctp, rm]]),
    t:p([socket:is_supported(msg_flags, K) || K <- [notification, more]]),
    t:p([t:c(fun() -> prim_socket:setopt(S, O, V) end) || {O, V} <- [{{foo, bar}, 1}, {foo, 1}]]),
    t:p(socket:getopt_native(S, {socket, keepalive}, boolean)),
    t:p(socket:getopt_native(S, {socket, linger}, 8)),
    close([S]).

ioctls() ->
    {L, C, A} = pair(),
    t:p(socket:ioctl(A, nread)),
    ok = socket:send(C, <<"abc">>), arrived(A, 3),
    t:p(socket:ioctl(A, atmark)),
    t:p([t:c(fun() -> socket:ioctl(A, R) end) || R <- [nwrite, nspace, foo]]),
    t:p([t:c(fun() -> socket:ioctl(L, R) end) || R <- [nread, atmark]]),
    close([L, C, A]),
    t:p(socket:ioctl(A, nread)).

ranges() ->
    {ok, S} = socket:open(inet, stream, tcp),
    t:p([t:c(F) || F <- [
        fun() -> socket:listen(S, 1 bsl 40) end,
        fun() -> prim_socket:recv(element(2, S), 1 bsl 70, [], make_ref()) end,
        fun() -> prim_socket:recvmsg(element(2, S), 1, 1 bsl 70, [], make_ref()) end,
        fun() -> prim_socket:setopt_native(element(2, S), {socket, 1 bsl 40}, 1) end,
        fun() -> prim_socket:sendfile(element(2, S), 1 bsl 70, 1, make_ref()) end]]),
    close([S]).

nets() ->
    t:p([net:getservbyname(N, P) || {N, P} <- [{"http", tcp}, {"http", udp}, {"domain", any}, {"nope", tcp},
                                               {"ssh", tcp}, {"", tcp}]]),
    t:p([net:getservbyport(N, P) || {N, P} <- [{80, tcp}, {53, udp}, {53, any}, {1, udp}, {65536 + 22, tcp}]]),
    t:p([t:c(fun() -> prim_net:getservbyname(N, P) end) || {N, P} <- [{"http", "tcp"}, {"http", "any"}, {[300], "tcp"},
                                                                      {lists:duplicate(300, $a), "tcp"}]]),
    t:p([t:c(fun() -> prim_net:getservbyport(N, P) end) || {N, P} <- [{-1, "tcp"}, {22, "any"}, {22, [300]}]]),
    t:p(net:getaddrinfo("127.0.0.1", "http")),
    t:p(net:getaddrinfo("127.0.0.1")),
    t:p(net:info()).

commands() ->
    t:p(maps:remove(counters, socket:info())),
    t:p([t:c(fun() -> socket:debug(D) end) || D <- [false, foo]]),
    t:p(t:c(fun() -> prim_socket:use_registry(foo) end)),
    t:p([t:c(fun() -> prim_net:debug(D) end) || D <- [false, foo]]).

%% gen_tcp on it: a packet in pieces, a timeout in the middle, the end of the stream
backend() ->
    O = [{inet_backend, socket}, binary, {active, false}],
    {ok, L} = gen_tcp:listen(0, O),
    {ok, Port} = inet:port(L),
    {ok, C} = gen_tcp:connect("localhost", Port, O),
    {ok, A} = gen_tcp:accept(L),
    ok = gen_tcp:send(C, <<"abc">>),
    t:p(gen_tcp:recv(A, 5, 50)),
    ok = gen_tcp:send(C, <<"de">>),
    t:p(gen_tcp:recv(A, 5, 1000)),
    t:p(gen_tcp:recv(A, 0, 20)),
    ok = inet:setopts(A, [{packet, 4}]),
    ok = gen_tcp:send(C, <<0, 0, 0, 5, "he">>),
    ok = gen_tcp:send(C, <<"llo">>),
    t:p(gen_tcp:recv(A, 0, 1000)),
    Big = binary:copy(<<"0123456789">>, 200000),
    spawn_link(fun() -> ok = gen_tcp:send(C, Big) end),
    ok = inet:setopts(A, [{packet, raw}]),
    {ok, Got} = gen_tcp:recv(A, byte_size(Big)),
    t:p(Got =:= Big),
    ok = inet:setopts(A, [{active, 2}]),
    ok = gen_tcp:send(C, <<"x">>),
    receive {tcp, A, X} -> t:p(X) end,
    ok = gen_tcp:send(C, <<"y">>),
    receive {tcp, A, Y} -> t:p(Y) end,
    receive {tcp_passive, A} -> t:p(passive) end,
    t:p(inet:getopts(A, [active, recbuf_is_not_here, nodelay])),
    ok = inet:setopts(A, [{active, true}]),
    ok = gen_tcp:close(C),
    receive {tcp_closed, A} -> t:p(closed) end,
    gen_tcp:close(A), gen_tcp:close(L),
    U = [{inet_backend, socket}, binary, {ip, {127, 0, 0, 1}}],
    {ok, U1} = gen_udp:open(0, U ++ [{active, true}]),
    {ok, U2} = gen_udp:open(0, U ++ [{active, false}]),
    {ok, P1} = inet:port(U1),
    {ok, P2} = inet:port(U2),
    ok = gen_udp:send(U2, {127, 0, 0, 1}, P1, <<"one">>),
    receive {udp, U1, {127, 0, 0, 1}, P2, D} -> t:p(D) end,
    ok = gen_udp:send(U1, {127, 0, 0, 1}, P2, <<"two">>),
    {ok, {{127, 0, 0, 1}, P1, D2}} = gen_udp:recv(U2, 0, 1000),
    t:p(D2),
    t:p(gen_udp:recv(U2, 0, 10)),
    gen_udp:close(U1), gen_udp:close(U2).
