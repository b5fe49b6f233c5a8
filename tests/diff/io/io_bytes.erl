%% erlang:statistics(io): what passes through ports, as OTP counts it.
-module(io_bytes).
-export([main/0]).

main() ->
    t:p({cat, passed(fun() -> cat([stream, binary], <<"hello">>) end)}),
    t:p({cat_list, passed(fun() -> cat([stream], lists:duplicate(1000, $x)) end)}),
    t:p({cat_packet, passed(fun() -> cat([{packet, 4}], "packet") end)}),
    t:p({cat_lines, passed(fun() -> cat([{line, 3}], "abcdef\ngh\n") end)}),
    t:p({only_in, passed(fun() -> finish(open_port({spawn, "echo 123456"}, [exit_status])) end)}),
    t:p({only_out, passed(fun() -> out(<<"12345">>) end)}),
    t:p({tcp_passive, passed(fun() -> tcp([binary, {active, false}], <<"hello">>) end)}),
    t:p({tcp_list, passed(fun() -> tcp([list, {active, false}], <<"hello">>) end)}),
    t:p({tcp_packet, passed(fun() -> tcp([binary, {packet, 2}, {active, false}], <<"hello">>) end)}),
    t:p({tcp_active, passed(fun() -> tcp([binary, {active, true}], <<"active">>) end)}),
    t:p({tcp_header, passed(fun() -> tcp([binary, {header, 2}, {active, true}], <<"active">>) end)}),
    t:p({udp_passive, passed(fun() -> udp([binary, {active, false}], <<"hello">>) end)}),
    t:p({udp_list, passed(fun() -> udp([list, {active, false}], <<"hello">>) end)}),
    t:p({udp_active, passed(fun() -> udp([binary, {active, true}], <<"active">>) end)}),
    t:p({file, passed(fun() -> {ok, B} = file:read_file("/proc/self/status"), true = byte_size(B) > 0 end)}),
    t:p({none, passed(fun() -> ok end)}).

%% What came in and went out meanwhile; nothing else of this node has anything to say.
passed(Fun) ->
    {{input, I}, {output, O}} = statistics(io),
    Port = Fun(),
    {{input, I1}, {output, O1}} = statistics(io),
    {I1 - I, O1 - O, Port}.

cat(Options, Data) ->
    P = open_port({spawn, "cat"}, Options),
    port_command(P, Data),
    more(P),
    R = [erlang:port_info(P, K) || K <- [input, output]],
    port_close(P),
    R.

more(P) -> receive {P, {data, _}} -> ok end, rest(P).
rest(P) -> receive {P, {data, _}} -> rest(P) after 100 -> ok end.

finish(P) ->
    receive
        {P, {exit_status, 0}} -> ok;
        {P, {data, _}} -> finish(P)
    end.

out(Data) ->
    P = open_port({spawn, "cat >/dev/null"}, [out]),
    port_command(P, Data),
    R = erlang:port_info(P, output),
    port_close(P),
    R.

tcp(Options, Data) ->
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}} | Options]),
    {ok, Port} = inet:port(L),
    {ok, A} = gen_tcp:connect({127, 0, 0, 1}, Port, Options),
    {ok, B} = gen_tcp:accept(L),
    ok = gen_tcp:send(A, Data),
    case inet:getopts(B, [active]) of
        {ok, [{active, false}]} -> {ok, _} = gen_tcp:recv(B, 0);
        {ok, [{active, true}]} -> receive {tcp, B, _} -> ok end
    end,
    R = [erlang:port_info(P, K) || P <- [A, B], K <- [input, output]],
    [gen_tcp:close(S) || S <- [A, B, L]],
    R.

udp(Options, Data) ->
    {ok, A} = gen_udp:open(0, [{ip, {127, 0, 0, 1}} | Options]),
    {ok, B} = gen_udp:open(0, [{ip, {127, 0, 0, 1}} | Options]),
    {ok, Port} = inet:port(B),
    ok = gen_udp:send(A, {127, 0, 0, 1}, Port, Data),
    case inet:getopts(B, [active]) of
        {ok, [{active, false}]} -> {ok, _} = gen_udp:recv(B, 0);
        {ok, [{active, true}]} -> receive {udp, B, _, _, _} -> ok end
    end,
    R = [erlang:port_info(P, K) || P <- [A, B], K <- [input, output]],
    [gen_udp:close(S) || S <- [A, B]],
    R.
