%% inet:getopts of multicast_if. OTP's value after a set is whatever lies in memory, so only its shape counts.
-module(multicast_interface).
-export([main/0]).
main() ->
    {ok, S} = gen_udp:open(0), {ok, [{multicast_if, I}]} = inet:getopts(S, [multicast_if]), t:p(tuple_size(I)),
    t:p(inet:setopts(S, [{multicast_if, {127, 0, 0, 1}}])),
    {ok, [{multicast_if, J}, {multicast_ttl, Ttl}]} = inet:getopts(S, [multicast_if, multicast_ttl]), t:p({tuple_size(J), Ttl}),
    {ok, T} = gen_udp:open(0, [inet6]), {ok, [{multicast_if, N}, {active, A}]} = inet:getopts(T, [multicast_if, active]), t:p({is_integer(N), A}).
