%% since 27
%% socket:sendv of vectors without a byte: nothing reaches the socket, and no error comes back.
-module(since27_socket_sendv).
-export([main/0]).
main() ->
    [t:p({Type, IOV, on(Type, fun(S) -> socket:sendv(S, IOV) end)})
     || Type <- [stream, dgram], IOV <- [[], [<<>>], [<<>>, <<>>], [<<"a">>], [x], x]],
    {ok, In} = socket:open(inet, dgram),
    ok = socket:bind(In, #{family => inet, addr => loopback, port => 0}),
    {ok, Address} = socket:sockname(In),
    {ok, Out} = socket:open(inet, dgram),
    ok = socket:connect(Out, Address),
    t:p([socket:sendv(Out, IOV) || IOV <- [[], [<<>>], [<<"after">>], [<<>>, <<"two">>, <<>>]]]),
    t:p([socket:recv(In, 0, 5000) || _ <- [1, 2]]),
    t:p(socket:recv(In, 0, 0)),
    ok = socket:close(Out),
    t:p(socket:sendv(Out, [])).
on(Type, F) ->
    {ok, S} = socket:open(inet, Type),
    R = try F(S) catch C:E -> {C, E} end,
    ok = socket:close(S),
    R.
