%% Options that come back with data or change what a socket is: control messages of datagrams and
%% streams, raw options, addresses in all their forms, interfaces, statistics.
-module(socket_options).
-export([main/0]).

-define(IP, {127,0,0,1}).

main() ->
    [datagrams(inet, Opts) || Opts <- [[{recvtos,true}], [{recvttl,true}], [{recvtos,true}, {recvttl,true}], []]],
    [datagrams(inet6, Opts) || Opts <- [[{recvtclass,true}], []]],
    refused_control(),
    pktoptions(),
    raw(),
    addresses(),
    local(),
    {error, enoent} = namespace("/proc/none"),
    statistics(),
    list_header(),
    descriptors().

datagrams(Family, Opts) ->
    Ip = loopback(Family),
    {ok, R} = gen_udp:open(0, [Family, binary, {ip, Ip}, {active,false} | Opts]),
    {ok, Port} = inet:port(R),
    {ok, S} = gen_udp:open(0, [Family, {ip, Ip}]),
    Anc = case Family of
              inet -> [[], [{tos, 16}], [{ttl, 11}], [{tos, 8}, {ttl, 12}]];
              inet6 -> [[], [{tclass, 32}]]
          end,
    [begin
         p({Family, Opts, A}, gen_udp:send(S, {Ip, Port}, A, "abc")),
         p(passive, plain(gen_udp:recv(R, 0, 5000))),
         ok = gen_udp:send(S, {Ip, Port}, A, "abc"),
         ok = inet:setopts(R, [{active, once}]),
         p(active, receive M when element(1, M) =:= udp -> active(M) after 5000 -> nothing end)
     end || A <- Anc],
    p(options, inet:getopts(R, [recvtos, recvttl, recvtclass, tos, ttl, tclass])),
    [gen_udp:close(X) || X <- [R, S]].

plain({ok, {Ip, _, Data}}) -> {Ip, Data};
plain({ok, {Ip, _, Anc, Data}}) -> {Ip, Anc, Data};
plain(Error) -> Error.

active({udp, _, Ip, _, Data}) -> {Ip, Data};
active({udp, _, Ip, _, Anc, Data}) -> {Ip, Anc, Data}.

refused_control() ->
    {ok, S} = gen_udp:open(0, [{ip, ?IP}]),
    [p({refused, A}, catch gen_udp:send(S, {?IP, 9}, A, "abc"))
     || A <- [[{tos, 1}, {ttl, 2}, {tos, 3}], [{nodelay, true}], [{tos, a}], [{raw, 1, 2, <<3>>}]]],
    gen_udp:close(S).

pktoptions() ->
    {ok, L} = gen_tcp:listen(0, [{ip, ?IP}, binary, {active,false}, {recvtos,true}, {recvttl,true}]),
    {ok, Port} = inet:port(L),
    {ok, C} = gen_tcp:connect(?IP, Port, [binary, {active,false}, {tos, 40}, {ttl, 33}]),
    {ok, A} = gen_tcp:accept(L),
    ok = gen_tcp:send(C, "x"),
    {ok, _} = gen_tcp:recv(A, 1),
    p(pktoptions, [inet:getopts(S, [pktoptions]) || S <- [A, C]]),
    p(pktoptions, inet:getopts(A, [recvtos, recvttl])),
    [gen_tcp:close(S) || S <- [L, C, A]].

raw() ->
    {ok, L} = gen_tcp:listen(0, [{ip, ?IP}, {raw, 1, 9, <<1:32/native>>}]),
    %% SOL_SOCKET: SO_KEEPALIVE, SO_LINGER; IPPROTO_TCP: TCP_KEEPIDLE, TCP_CONGESTION.
    p(raw, [inet:getopts(L, [O]) || O <- [{raw, 1, 9, 4}, {raw, 1, 9, <<0:32>>}, {raw, 1, 13, 8}, {raw, 1, 13, 2},
                                         {raw, 6, 4, 4}, {raw, 77, 77, 4}, {raw, 1, 9, 0}]]),
    p(raw, [inet:setopts(L, [O]) || O <- [{raw, 6, 4, <<77:32/native>>}, {raw, 77, 77, <<1:32>>}]]),
    p(raw, inet:getopts(L, [{raw, 6, 4, 4}, reuseaddr, {raw, 1, 13, 8}])),
    p(malformed, [catch inet:getopts(L, [O]) || O <- [{raw, 1, 9}, {raw, 1, 9, a}, {raw, 1, 9, 100000000}]]),
    p(bind_to_device, [inet:getopts(L, [bind_to_device]), inet:setopts(L, [{bind_to_device, <<"none-such">>}]),
                       inet:setopts(L, [{bind_to_device, <<"lo">>}]), inet:getopts(L, [bind_to_device])]),
    gen_tcp:close(L).

connect(Map, _) when is_map(Map) -> gen_tcp:connect(Map, [{active,false}], 5000);
connect(A, P) -> gen_tcp:connect(A, P, [{active,false}]).

loopback(inet) -> ?IP;
loopback(inet6) -> {0,0,0,0,0,0,0,1}.

addresses() ->
    {ok, L4} = gen_tcp:listen(0, [inet, {ip, ?IP}]),
    {ok, P4} = inet:port(L4),
    {ok, L6} = gen_tcp:listen(0, [inet6, {ip, loopback(inet6)}, {ipv6_v6only, true}]),
    {ok, P6} = inet:port(L6),
    Forms = [{?IP, P4}, {{inet, {?IP, P4}}, 0}, {loopback, P4}, {loopback(inet6), P6},
             {#{family => inet, addr => ?IP, port => P4}, P4},
             {#{family => inet6, addr => loopback(inet6), port => P6, flowinfo => 0, scope_id => 0}, P6},
             {{inet, {loopback, P4}}, 0}, {{inet6, {loopback, P6}}, 0}, {any, P4}, {"127.0.0.1", P4}],
    [begin
         R = (catch connect(A, P)),
         case R of
             {ok, S} ->
                 {ok, Peer} = inet:peername(S),
                 p(connects, [address(A, [P4, P6]), address(Peer, [P4, P6])]),
                 gen_tcp:close(S);
             _ -> p(connects, [address(A, [P4, P6]), class(R)])
         end
     end || {A, P} <- Forms],
    {ok, U} = gen_udp:open(0, [{ip, ?IP}, {active,false}]),
    {ok, PU} = inet:port(U),
    [p(sends, [address(To, [PU]), class(catch gen_udp:send(U, To, "x"))])
     || To <- [{?IP, PU}, {inet, {?IP, PU}}, {inet, {loopback, PU}}, #{family => inet, addr => ?IP, port => PU},
               {inet6, {loopback, PU}}, {local, <<"x">>}, {unspec, <<>>}]],
    p(sockname, [inet:sockname(U) =:= {ok, {?IP, PU}}, inet:peername(U)]),
    ok = gen_udp:connect(U, ?IP, PU),
    p(connected, [inet:peername(U) =:= {ok, {?IP, PU}}, gen_udp:send(U, "y"), gen_udp:connect(U, {1,2,3}, 1)]),
    [gen_tcp:close(X) || X <- [L4, L6]],
    gen_udp:close(U).

class({'EXIT', {R, _}}) -> {exit, R};
class(R) -> R.

%% Ports that the system chose are shown by their place in the list.
address(T, [P]) -> address(T, [P, none]);
address(P4, [P4, _]) when is_integer(P4) -> port4;
address(P6, [_, P6]) when is_integer(P6) -> port6;
address(T, Ps) when is_tuple(T) -> list_to_tuple([address(E, Ps) || E <- tuple_to_list(T)]);
address(M, Ps) when is_map(M) -> maps:map(fun(_, V) -> address(V, Ps) end, M);
address(T, _) -> T.

local() ->
    Name = iolist_to_binary(["/tmp/kvik-diff-", os:getpid()]),
    file:delete(Name),
    {ok, L} = gen_tcp:listen(0, [{ifaddr, {local, Name}}, {active,false}, {exit_on_close,false}]),
    p(local, [inet:sockname(L) =:= {ok, {local, Name}}, inet:port(L) =:= {ok, Name}, inet:peername(L)]),
    {ok, C} = gen_tcp:connect({local, Name}, 0, [local, binary, {active,false}]),
    {ok, A} = gen_tcp:accept(L),
    p(local, [inet:peername(C) =:= {ok, {local, Name}}, inet:peername(A), inet:sockname(C)]),
    ok = gen_tcp:send(C, "hello"),
    ok = gen_tcp:shutdown(C, write),
    p(local, [gen_tcp:recv(A, 5), gen_tcp:recv(A, 0), gen_tcp:send(A, "back"), gen_tcp:recv(C, 0)]),
    p(local, [gen_tcp:listen(0, [{ifaddr, {local, Name}}]),
              gen_tcp:connect({local, <<"/tmp/kvik-diff-none">>}, 0, []),
              catch gen_tcp:connect({local, binary:copy(<<"x">>, 200)}, 0, [])]),
    [gen_tcp:close(S) || S <- [C, A, L]],
    file:delete(Name),
    {ok, U} = gen_udp:open(0, [{ifaddr, {local, Name}}, binary, {active,true}]),
    {ok, V} = gen_udp:open(0, [local, binary]),
    ok = gen_udp:send(V, {local, Name}, 0, "from nobody"),
    p(local, receive {udp, U, From, 0, Data} -> {From, Data}; Other -> Other after 5000 -> nothing end),
    ok = inet:setopts(U, [{active,false}]),
    ok = gen_udp:send(V, {local, Name}, 0, "from nobody"),
    p(local, gen_udp:recv(U, 0, 5000)),
    [gen_udp:close(S) || S <- [U, V]],
    file:delete(Name).

namespace(File) -> gen_tcp:listen(0, [{netns, File}]).

statistics() ->
    {ok, L} = gen_tcp:listen(0, [{ip, ?IP}, binary, {active,false}, {packet,2}]),
    {ok, Port} = inet:port(L),
    {ok, C} = gen_tcp:connect(?IP, Port, [binary, {active,false}, {packet,2}]),
    {ok, A} = gen_tcp:accept(L),
    [ok = gen_tcp:send(C, lists:duplicate(N, $x)) || N <- [10, 100, 0, 5, 1000]],
    [{ok, _} = gen_tcp:recv(A, 0) || _ <- lists:seq(1, 5)],
    [p(statistics, inet:getstat(S)) || S <- [L, C, A]],
    p(statistics, [inet:getstat(A, [recv_cnt, send_pend]), catch inet:getstat(A, [none])]),
    [gen_tcp:close(S) || S <- [L, C, A]].

list_header() ->
    {ok, R} = gen_udp:open(0, [{ip, ?IP}, binary, {header,2}, {active,false}]),
    {ok, Port} = inet:port(R),
    [begin
         ok = gen_udp:send(R, ?IP, Port, D),
         {ok, {?IP, Port, Got}} = gen_udp:recv(R, 0, 5000),
         p(header, Got)
     end || D <- ["", "a", "ab", "abc", "abcdef"]],
    gen_udp:close(R).

descriptors() ->
    {ok, L} = gen_tcp:listen(0, [{ip, ?IP}, binary, {active,false}]),
    {ok, Fd} = prim_inet:getfd(L),
    p(fd, [case gen_tcp:listen(0, [inet6, {fd, Fd}]) of {error, E} -> E; {ok, _} -> opened end,
           catch gen_udp:open(0, [{fd, 99999}])]),
    {ok, U} = gen_udp:open(0, [{ip, ?IP}, binary, {active,false}]),
    {ok, UFd} = prim_inet:getfd(U),
    {ok, V} = gen_udp:open(0, [{fd, UFd}, binary, {active,true}]),
    {ok, Port} = inet:port(V),
    ok = gen_udp:send(U, ?IP, Port, "both"),
    p(fd, receive {udp, V, ?IP, Port, D} -> D after 5000 -> nothing end),
    ok = gen_udp:close(V),
    ok = gen_udp:send(U, ?IP, Port, "first"),
    {ok, {_, _, First}} = gen_udp:recv(U, 0, 5000),
    p(fd, First),
    gen_udp:close(U),
    gen_tcp:close(L).

p(What, Term) -> io:format("~0p: ~0p~n", [What, Term]).
