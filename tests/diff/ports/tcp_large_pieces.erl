%% I/O lists with large binaries, which a machine may pass to the system by reference: all bytes
%% arrive in order, also where a slow reader makes the socket take a part of them.
-module(tcp_large_pieces).
-export([main/0]).

main() ->
    [t:p({Options, Delay, [exchange(Options, Delay, Data) || Data <- all()]})
     || Options <- [[], [{packet, 4}], [{packet, 2}, {delay_send, true}], [{high_watermark, 1000}]],
        Delay <- [0, 30]],
    t:p(invalid()).

%% Bytes that tell where they are.
bytes(Seed, N) -> << <<((Seed + I * 7 + I div 251) rem 256)>> || I <- lists:seq(1, N) >>.

all() ->
    Large = bytes(1, 5000), Edge = bytes(2, 2048), Below = bytes(3, 2047),
    <<_:3, Odd:4000/bytes, _/bits>> = Large,
    <<_:100/bytes, Part:3000/bytes, _/binary>> = Large,
    [Large,
     [Large],
     [<<"head">>, Large],
     [Large, <<"tail">>],
     [1, Edge, 2, Below, 3 | Edge],
     [[[Large], [<<>>, []]], $a, [Part, Odd | Part]],
     [Edge, [], Edge],
     lists:duplicate(25, Edge),
     [[I rem 256, Part] || I <- lists:seq(1, 20)]].

exchange(Options, Delay, Data) ->
    All = [[<<0>>, Data] || _ <- lists:seq(1, 40)],
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {recbuf, 4096}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(L),
    Want = iolist_to_binary([framed(proplists:get_value(packet, Options, 0), D) || D <- All]),
    Self = self(),
    spawn_link(fun() ->
        {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {sndbuf, 4096} | Options]),
        [ok = gen_tcp:send(S, D) || D <- All],
        ok = gen_tcp:close(S),
        Self ! sent
    end),
    {ok, S} = gen_tcp:accept(L),
    timer:sleep(Delay),
    Got = read(S, []),
    receive sent -> ok end,
    gen_tcp:close(L),
    {byte_size(Got), Got =:= Want}.

framed(0, Data) -> Data;
framed(N, Data) -> [<<(iolist_size(Data)):(N * 8)>>, Data].

read(S, All) ->
    case gen_tcp:recv(S, 0) of
        {ok, Data} -> read(S, [All, Data]);
        {error, closed} -> iolist_to_binary(All)
    end.

invalid() ->
    {ok, L} = gen_tcp:listen(0, [binary, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(L),
    {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary]),
    Large = bytes(1, 5000),
    [catch gen_tcp:send(S, D)
     || D <- [[Large, 256], [Large | a], [Large, <<1:1>>], [Large, -1], [1.5, Large]]].
