%% How crash dumps describe other nodes, as `system_info(dist)` tells: tags, names and controllers, and
%% the links and monitors of other nodes' processes.
-module(described).
-export([main/0, other/2]).

main() ->
    N = two:other(),
    {module, ?MODULE} = rpc:call(N, code, ensure_loaded, [?MODULE]),
    two:p(own, fun() -> hd(lines()) end),
    two:p(connected, fun() -> [[head(L) || L <- S] || S <- sections(N)] end),
    two:p(controller, fun() ->
        [{_, Controller}] = [C || {Name, _} = C <- erlang:system_info(dist_ctrl), Name =:= N],
        [Shown] = [C || [_ | S] <- sections(N), <<"Controller: ", C/binary>> <- S],
        Shown =:= iolist_to_binary(io_lib:format("~w", [Controller]))
    end),
    two:p(creation, fun() ->
        Is = rpc:call(N, erlang, system_info, [creation]),
        [is_integer(Is) andalso C =:= integer_to_binary(Is) || [_ | S] <- sections(N), <<"Creation: ", C/binary>> <- S]
    end),
    two:p(linked, fun() -> about(start(N, fun erlang:link/1, self()), N) end),
    two:p(monitored, fun() -> about(start(N, fun(P) -> monitor(process, P) end, self()), N) end),
    two:p(monitored_by_name, fun() -> about(start(N, fun(P) -> monitor(process, P) end, {code_server, node()}), N) end),
    two:p(unknown, fun() ->
        net_adm:ping('nobody@nowhere'),
        Pid = spawn('nobody@nowhere', ?MODULE, other, []),
        {[[head(L) || L <- S] || S <- sections('nobody@nowhere')], element(1, {ok, Pid})}
    end),
    two:p(lost, fun() ->
        Pid = start(N, fun erlang:is_process_alive/1, none),
        erlang:disconnect_node(N),
        {[[head(L) || L <- S] || S <- sections(N)], node(Pid) =:= N}
    end).

start(N, Do, To) ->
    P = spawn(N, ?MODULE, other, [self(), {Do, To}]),
    receive {P, ready} -> P end.

%% A process of the other node.
other(From, {_, none}) -> From ! {self(), ready}, receive never -> ok end;
other(From, {Do, To}) ->
    Do(To),
    From ! {self(), ready},
    receive never -> ok end.

lines() -> binary:split(erlang:system_info(dist), <<"\n">>, [global, trim]).

%% The sections about a node.
sections(N) -> [S || [_, Name | _] = S <- sections(lines(), []), Name =:= <<"Name: ", (shown(N))/binary>>].
sections([<<"=", _/binary>> = L | T], All) -> sections(T, [[L] | All]);
sections([L | T], [S | All]) -> sections(T, [S ++ [L] | All]);
sections([], All) -> lists:reverse(All).

shown(N) -> iolist_to_binary(io_lib:format("'~ts'", [N])).

head(<<"=", L/binary>>) -> hd(binary:split(L, <<":">>));
head(L) -> hd(binary:split(L, <<":">>)).

%% What is told of a process of that node.
about(P, N) ->
    [That, Me] = [list_to_binary(pid_to_list(X)) || X <- [P, self()]],
    [[binary:replace(binary:replace(L, That, <<"THAT">>), Me, <<"ME">>) || L <- S, binary:match(L, That) =/= nomatch]
     || S <- sections(N)].
