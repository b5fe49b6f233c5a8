%% since 27
%% Options of gen_tcp and gen_udp that came after OTP 25.
-module(since27_inet_options).
-export([main/0]).

main() -> tcp(inet), udp(inet).

options() ->
    [{reuseport, true}, {reuseport, false}, {reuseport_lb, true}, {exclusiveaddruse, true}, {non_block_send, true},
     {keepcnt, 5}, {keepidle, 20}, {keepintvl, 7}, {user_timeout, 4000}, {keepcnt, foo}, {keepidle, -1}].

tcp(B) ->
    {ok, L} = gen_tcp:listen(0, [{inet_backend, B}, {reuseport, true}, {reuseaddr, true}]),
    {ok, Port} = inet:port(L),
    t:p({B, element(1, gen_tcp:listen(Port, [{inet_backend, B}])),
         element(1, gen_tcp:listen(Port, [{inet_backend, B}, {reuseport, true}]))}),
    {ok, C} = gen_tcp:connect("localhost", Port, [{inet_backend, B}]),
    each(B, C),
    gen_tcp:close(C), gen_tcp:close(L).

udp(B) ->
    {ok, U} = gen_udp:open(0, [{inet_backend, B}]),
    each(B, U),
    gen_udp:close(U).

each(B, S) ->
    [t:p({B, O, t:c(fun() -> inet:setopts(S, [O]) end), t:c(fun() -> inet:getopts(S, [element(1, O)]) end)})
     || O <- options()].
