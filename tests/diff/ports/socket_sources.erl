%% The source that socket:recvfrom tells where there is none: of streams, and of sockets without a
%% name.
-module(socket_sources).
-export([main/0]).

main() ->
    [t:pc(fun() -> stream(Domain, Address) end)
     || {Domain, Address} <- [{inet, #{family => inet, addr => loopback, port => 0}},
                              {local, #{family => local, path => path("stream")}}]],
    {ok, To} = socket:open(local, dgram),
    {ok, From} = socket:open(local, dgram),
    ok = socket:bind(To, #{family => local, path => path("dgram")}),
    {ok, Address} = socket:sockname(To),
    ok = socket:sendto(From, "abc", Address),
    t:p(socket:recvfrom(To, 0, [], 5000)).

stream(Domain, Address) ->
    {ok, Listening} = socket:open(Domain, stream),
    ok = socket:bind(Listening, Address),
    ok = socket:listen(Listening),
    {ok, Name} = socket:sockname(Listening),
    {ok, A} = socket:open(Domain, stream),
    ok = socket:connect(A, Name),
    {ok, B} = socket:accept(Listening),
    ok = socket:send(A, "abc"),
    {socket:recvfrom(B, 2, [peek], 5000), socket:recvfrom(B, 0, [], 5000), socket:recvfrom(B, 0, [], 0)}.

path(Name) -> filename:join(t:tmp("sources"), Name).
