%% A port's new owner: `port_connect/2` links it, the message `connect` does not.
-module(port_connect_links).
-export([main/0]).
main() ->
    [t:p(given(How)) || How <- [call, message]],
    [t:p(survives(How)) || How <- [call, message]],
    traced().
given(How) ->
    {Port, New} = connected(How),
    Is = {How, links(Port, New), links(Port, self()), lists:member(New, element(2, erlang:port_info(Port, links))), lists:member(self(), element(2, erlang:port_info(Port, links))), erlang:port_info(Port, connected) =:= {connected, New}},
    unlink(Port), exit(New, kill), Is.
%% Whether the port outlives its new owner, whose exit only a link tells it.
survives(How) ->
    {Port, New} = connected(How),
    unlink(Port),
    Ref = monitor(port, Port),
    exit(New, kill),
    receive {'DOWN', Ref, port, Port, Reason} -> {How, ended, Reason} after 300 -> {How, lives, catch port_close(Port)} end.
connected(How) ->
    Port = open_port({spawn, "cat"}, [binary]),
    New = spawn(fun() -> receive stop -> ok end end),
    case How of
        call -> true = port_connect(Port, New);
        message -> Port ! {self(), {connect, New}}, receive {Port, connected} -> ok end
    end,
    {Port, New}.
links(Port, Pid) -> {links, L} = process_info(Pid, links), lists:member(Port, L).
%% The events of a traced port.
traced() ->
    Me = self(),
    Port = open_port({spawn, "cat"}, [binary]),
    New = spawn(fun() -> receive stop -> ok end end),
    erlang:trace(Port, true, [send, 'receive', ports]),
    Port ! {Me, {connect, New}}, receive {Port, connected} -> ok end,
    port_connect(Port, Me), port_connect(Port, New), port_connect(Port, Me),
    catch erlang:port_call(Port, 1, x),
    port_close(Port),
    t:p(events([{Port, port}, {Me, me}, {New, new}])).
events(Names) ->
    receive E when element(1, E) =:= trace -> [named(E, Names) | events(Names)] after 200 -> [] end.
named(T, Names) when is_tuple(T) -> list_to_tuple([named(E, Names) || E <- tuple_to_list(T)]);
named(T, Names) -> case lists:keyfind(T, 1, Names) of {_, N} -> N; false -> T end.
