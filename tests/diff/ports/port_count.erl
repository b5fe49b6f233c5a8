-module(port_count).
-export([main/0]).

%% system_info(port_count) follows the ports that are opened and closed.
main() ->
    t:p(erlang:system_info(port_count) =:= length(erlang:ports())),
    Before = erlang:system_info(port_count),
    Sockets = [begin {ok, S} = gen_tcp:listen(0, []), S end || _ <- lists:seq(1, 5)],
    t:p(erlang:system_info(port_count) - Before),
    t:p(erlang:system_info(port_count) =:= length(erlang:ports())),
    [gen_tcp:close(S) || S <- Sockets],
    t:p(erlang:system_info(port_count) - Before).
