%% An operation that waits in a socket ends with {error,closed} when the socket is closed, whoever
%% waits and whoever closes, with and without a time limit.
-module(socket_close_pending).
-export([main/0]).

-define(IP, {127,0,0,1}).

main() ->
    [row(Op, Waiter, Closer, Limit)
     || Op <- [recv, recv_length, recv_packet, recv_line, accept, accepts, udp, local_recv,
               local_accept, local_udp],
        Waiter <- [owner, other], Closer <- [close, port_close, exit_signal, owner_dies],
        {Waiter, Closer} =/= {owner, owner_dies},
        Limit <- [infinity, 30000]].

row(Op, Waiter, Closer, Limit) ->
    Test = self(),
    {Owner, M} = spawn_monitor(fun() -> owner(Test, Op) end),
    {Owner, Sock} = receive {Owner, _} = Opened -> Opened end,
    Waiters = [waiter(Test, Op, Sock, Limit) || _ <- lists:seq(1, waiters(Op))],
    case Waiter of
        owner ->
            Owner ! {give, hd(Waiters)},
            receive {Owner, given} -> ok end;
        other -> ok
    end,
    [W ! go || W <- Waiters],
    [waits(W) || W <- Waiters],
    close(Closer, Sock, Owner),
    io:format("~p ~p ~p ~p: ~p~n",
              [Op, Waiter, Closer, Limit, [receive {W, R} -> R after 5000 -> hang end || W <- Waiters]]),
    exit(Owner, kill),
    receive {'DOWN', M, _, _, _} -> ok end.

waiters(accepts) -> 3;
waiters(_) -> 1.

owner(Test, Op) ->
    {Sock, Others} = open(Op),
    Test ! {self(), Sock},
    owner_loop(Test, Sock, Others).

owner_loop(Test, Sock, Others) ->
    receive
        {give, Pid} ->
            ok = gen_tcp:controlling_process(Sock, Pid),
            Test ! {self(), given},
            owner_loop(Test, Sock, Others);
        die -> ok
    end.

waiter(Test, Op, Sock, Limit) ->
    spawn(fun() ->
                  process_flag(trap_exit, true),
                  receive go -> ok end,
                  Test ! {self(), call(Op, Sock, Limit)}
          end).

waits(Pid) ->
    case process_info(Pid, [status, current_function]) of
        [{status, waiting}, {current_function, {prim_inet, _, _}}] -> ok;
        _ -> erlang:yield(), waits(Pid)
    end.

close(close, Sock, _) -> spawn(fun() -> inet:close(Sock) end);
close(port_close, Sock, _) -> port_close(Sock);
close(exit_signal, Sock, _) -> exit(Sock, stop);
close(owner_dies, _, Owner) -> Owner ! die.

open(accept) -> {listener(), []};
open(accepts) -> {listener(), []};
open(local_accept) -> {local_listener(), []};
open(udp) ->
    {ok, U} = gen_udp:open(0, [binary, {active,false}, {ip, ?IP}]),
    {U, []};
open(local_udp) ->
    {ok, U} = gen_udp:open(0, [binary, {active,false}, {ifaddr, {local, name("udp")}}]),
    {U, []};
open(local_recv) ->
    L = local_listener(),
    {ok, Name} = inet:sockname(L),
    {ok, C} = gen_tcp:connect(Name, 0, [binary, local, {active,false}]),
    {ok, S} = gen_tcp:accept(L),
    {S, [L, C]};
open(Op) ->
    L = listener(),
    {ok, Port} = inet:port(L),
    {ok, C} = gen_tcp:connect(?IP, Port, [binary, {active,false}]),
    {ok, S} = gen_tcp:accept(L),
    ok = inet:setopts(S, mode(Op)),
    ok = gen_tcp:send(C, part(Op)),
    {S, [L, C]}.

mode(recv_packet) -> [{packet, 4}];
mode(recv_line) -> [{packet, line}];
mode(_) -> [].

part(recv) -> <<>>;
part(recv_length) -> <<"abc">>;
part(recv_packet) -> <<0, 0, 0, 9, "abc">>;
part(recv_line) -> <<"no end">>.

listener() ->
    {ok, L} = gen_tcp:listen(0, [binary, {active,false}, {ip, ?IP}]),
    L.

local_listener() ->
    {ok, L} = gen_tcp:listen(0, [binary, {active,false}, {ifaddr, {local, name("tcp")}}]),
    L.

name(Kind) ->
    iolist_to_binary([0, "kvik-diff-", Kind, os:getpid(), integer_to_list(erlang:unique_integer([positive]))]).

call(recv_length, S, Limit) -> gen_tcp:recv(S, 10, Limit);
call(accept, S, Limit) -> gen_tcp:accept(S, Limit);
call(accepts, S, Limit) -> gen_tcp:accept(S, Limit);
call(local_accept, S, Limit) -> gen_tcp:accept(S, Limit);
call(udp, S, Limit) -> gen_udp:recv(S, 0, Limit);
call(local_udp, S, Limit) -> gen_udp:recv(S, 0, Limit);
call(_, S, Limit) -> gen_tcp:recv(S, 0, Limit).
