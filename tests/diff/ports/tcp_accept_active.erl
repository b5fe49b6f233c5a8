%% What comes on a socket that was accepted active, when nothing else is done with it.
-module(tcp_accept_active).
-export([main/0]).

main() ->
    lists:foreach(fun echo/1, [true, once, 3]),
    halt().

echo(Active) ->
    {ok, L} = gen_tcp:listen(0, [binary, {packet, 4}, {active, Active}]),
    {ok, Port} = inet:port(L),
    Self = self(),
    spawn_link(fun() ->
                   {ok, C} = gen_tcp:connect("localhost", Port, [binary, {packet, 4}, {active, false}]),
                   receive go -> ok end,
                   [ok = gen_tcp:send(C, <<N>>) || N <- lists:seq(1, 3)],
                   Self ! {answers, [gen_tcp:recv(C, 0, 2000) || _ <- lists:seq(1, 3)]}
               end) ! go,
    {ok, S} = gen_tcp:accept(L),
    answer(S, 3),
    io:format("~p ~p~n", [Active, receive {answers, A} -> A after 9000 -> none end]).

answer(_, 0) -> ok;
answer(S, N) ->
    receive
        {tcp, S, B} -> gen_tcp:send(S, B), inet:setopts(S, [{active, once}]), answer(S, N - 1);
        {tcp_passive, S} -> answer(S, N)
    after 3000 -> io:format("nothing came~n")
    end.
