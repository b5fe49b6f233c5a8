-module(connect_without_time).
-export([main/0]).

%% A timer that is due rings before what the system has to tell: with a time of 0 some connections, at
%% least, are not made, though the listener is near.
main() ->
    {ok, L} = gen_tcp:listen(0, [{active, false}, {ip, {127, 0, 0, 1}}, {backlog, 500}]),
    {ok, Port} = inet:port(L),
    Results = [connect(Port) || _ <- lists:seq(1, 300)],
    t:p({lists:member({error, timeout}, Results), lists:usort(Results) -- [ok, {error, timeout}]}),
    t:p(element(1, gen_tcp:connect({127, 0, 0, 1}, Port, [], 5000))).

connect(Port) ->
    case gen_tcp:connect({127, 0, 0, 1}, Port, [], 0) of
        {ok, S} -> gen_tcp:close(S);
        Error -> Error
    end.
