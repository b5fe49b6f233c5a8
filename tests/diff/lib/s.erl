%% Sockets of the module socket, for the programs about them.
-module(s).
-export([any/0, pair/0, close/1, arrived/2]).

any() -> #{family => inet, addr => loopback, port => 0}.

%% A listener, and the two ends of a connection that it accepted.
pair() ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, any()),
    ok = socket:listen(L),
    {ok, Addr} = socket:sockname(L),
    {ok, C} = socket:open(inet, stream, tcp),
    ok = socket:connect(C, Addr),
    {ok, A} = socket:accept(L),
    {L, C, A}.

close(All) -> [ok = socket:close(S) || S <- All].

%% Waits until so many bytes have come.
arrived(S, N) ->
    case socket:ioctl(S, nread) of
        {ok, N} -> ok;
        {ok, _} -> timer:sleep(2), arrived(S, N)
    end.
