%% inet:getiflist, ifget and ifset: names, each option, interfaces that are not there, what is refused.
-module(inet_interfaces).
-export([main/0]).

main() ->
    {ok, Names} = inet:getiflist(),
    t:p({lists:member("lo", Names), [N || N <- Names, N =:= []]}),
    Options = [addr, broadaddr, dstaddr, mtu, netmask, flags, hwaddr],
    [t:p({O, inet:ifget("lo", [O])}) || O <- Options],
    t:p([O || {O, _} <- element(2, inet:ifget("lo", Options))]),
    t:p({twice, [O || {O, _} <- element(2, inet:ifget("lo", [mtu, mtu]))]}),
    [t:p({O, inet:ifget("none0", [O])}) || O <- Options],
    t:p({inet:ifget("lo", []), inet:ifget("lo", [foo])}),
    %% Nothing changes: the interface is not there.
    [t:p({O, inet:ifset("none0", [O])}) ||
        O <- [{addr, {127, 0, 0, 1}}, {broadaddr, {127, 0, 0, 1}}, {dstaddr, {127, 0, 0, 1}}, {mtu, 1500},
              {netmask, {255, 0, 0, 0}}, {flags, [up]}, {flags, [no_broadcast]}, {hwaddr, [1, 2, 3, 4, 5, 6]}]],
    t:p({inet:ifset("none0", []), inet:ifset("lo", [{foo, 1}])}),
    {ok, U} = gen_udp:open(0),
    t:p({inet:getiflist(U) =:= {ok, Names}, inet:ifget(U, "lo", [addr])}),
    gen_udp:close(U),
    {ok, All} = inet:getifaddrs(),
    t:p(proplists:get_value(flags, proplists:get_value("lo", All))).
