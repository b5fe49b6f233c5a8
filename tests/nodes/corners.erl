%% What is seldom done with another node: its references as text, and a connection whose packets have
%% room for two bytes of length only.
-module(corners).
-export([main/0, short/1]).

main() ->
    N = two:other(),
    texts(N),
    short_packets(N).

texts(N) ->
    R = rpc:call(N, erlang, make_ref, []),
    A = rpc:call(N, erlang, apply, [fun() -> alias() end, []]),
    [two:p(What, fun() -> list_to_ref(ref_to_list(T)) =:= T end) || {What, T} <- [{ref, R}, {alias, A}]],
    "#Ref<" ++ Text = ref_to_list(R),
    [Channel | _] = string:split(Text, "."),
    With = fun(Rest) -> list_to_ref("#Ref<" ++ Channel ++ Rest) end,
    [two:p(Rest, fun() -> X = With(Rest), {is_reference(X), node(X) =:= N, "#Ref<" ++ Channel ++ Rest =:= ref_to_list(X)} end)
     || Rest <- [".1>", ".1.2>", ".1.2.3>", ".3.2.1>", ".1.2.3.4>", ".1.2.3.4.5>", ".0.0.0>", ".1.2.262143>", ".1.2.262144>", ".4294967295.1.2>"]],
    [two:p(Rest, fun() -> With(Rest) end)
     || Rest <- [">", ".>", ".1.2.3.4.5.6>", ".1.2.4294967296>", ".4294967296.1.2>", ".-1.2.3>", ".1.2.3> ", ".a.b.c>"]],
    two:p(nobody, fun() -> list_to_ref("#Ref<268435455.1.2.3>") end),
    two:p(order, fun() -> With(".1.2.3>") < With(".2.2.3>") end).

short_packets(N) ->
    ok = net_kernel:monitor_nodes(true),
    rpc:cast(N, ?MODULE, short, [node()]),
    timer:sleep(300),
    short(N),
    {nobody, N} ! <<0:800000>>,
    two:p(down, fun() -> receive {nodedown, N} -> down after 10000 -> nothing end end),
    two:p(again, fun() -> {two:other() =:= N, byte_size(rpc:call(N, binary, copy, [<<1>>, 100000]))} end).

short(N) ->
    {N, Port} = lists:keyfind(N, 1, erlang:system_info(dist_ctrl)),
    inet:setopts(Port, [{packet, 2}]).
