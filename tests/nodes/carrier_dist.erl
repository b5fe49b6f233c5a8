%% A carrier of connections that is a process (`-proto_dist carrier`): packets go over a socket of its
%% own, each behind its size, and to and from the machine by erlang:dist_ctrl_*.
-module(carrier_dist).
-include_lib("kernel/include/dist_util.hrl").
-include_lib("kernel/include/net_address.hrl").
-export([select/1, address/0, listen/2, close/1, accept/1, accept_connection/5, setup/5]).
-export([ask/1]).

select(Node) ->
    length(string:split(atom_to_list(Node), "@", all)) =:= 2.

address() ->
    {ok, Host} = inet:gethostname(),
    #net_address{host = Host, protocol = carrier, family = inet}.
address(Socket) ->
    {ok, At} = inet:peername(Socket),
    (address())#net_address{address = At}.

listen(Name, _) ->
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}} | options()]),
    {ok, {_, Port} = At} = inet:sockname(L),
    {ok, Creation} = (net_kernel:epmd_module()):register_node(Name, Port),
    {ok, {L, (address())#net_address{address = At}, Creation}}.
close(L) ->
    gen_tcp:close(L).
options() ->
    [binary, {active, false}, {packet, 2}].

accept(L) ->
    Kernel = self(),
    spawn_opt(fun() -> accepts(L, Kernel) end, [link, {priority, max}]).
accepts(L, Kernel) ->
    {ok, Socket} = gen_tcp:accept(L),
    C = controller(Socket),
    Kernel ! {accept, self(), C, inet, carrier},
    receive
        {Kernel, controller, Pid} -> Pid ! {self(), controller};
        {Kernel, unsupported_protocol} -> exit(unsupported_protocol)
    end,
    accepts(L, Kernel).

accept_connection(Acceptor, C, This, Allowed, Time) ->
    Kernel = self(),
    spawn_opt(fun() ->
        receive {Acceptor, controller} -> ok end,
        H = handshake(C, Kernel, This, Time),
        dist_util:handshake_other_started(H#hs_data{allowed = Allowed})
    end, dist_util:net_ticker_spawn_options()).

setup(Node, Type, This, _, Time) ->
    Kernel = self(),
    spawn_opt(fun() ->
        [Name, _] = string:split(atom_to_list(Node), "@"),
        case (net_kernel:epmd_module()):port_please(Name, {127, 0, 0, 1}) of
            {port, Port, Version} ->
                {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, options()),
                H = handshake(controller(Socket), Kernel, This, Time),
                dist_util:handshake_we_started(
                    H#hs_data{other_node = Node, other_version = Version, request_type = Type});
            _ ->
                ?shutdown(Node)
        end
    end, dist_util:net_ticker_spawn_options()).

handshake(C, Kernel, This, Time) ->
    Socket = asked(C, socket),
    #hs_data{kernel_pid = Kernel, this_node = This, socket = C, this_flags = 0,
             timer = dist_util:start_timer(Time),
             f_send = fun(_, Packet) -> gen_tcp:send(Socket, Packet) end,
             f_recv = fun(_, N, T) ->
                 case gen_tcp:recv(Socket, N, T) of
                     {ok, B} -> {ok, binary_to_list(B)};
                     Error -> Error
                 end
             end,
             f_setopts_pre_nodeup = fun(_) -> inet:setopts(Socket, [{packet, 4}]) end,
             f_setopts_post_nodeup = fun(_) -> ok end,
             f_getll = fun(Ctrl) -> {ok, Ctrl} end,
             f_address = fun(_, _) -> address(Socket) end,
             f_handshake_complete = fun(Ctrl, _, Handle) -> asked(Ctrl, {carry, Handle}) end,
             mf_tick = fun(Ctrl) -> Ctrl ! tick, ok end,
             mf_getstat = fun(_) ->
                 {ok, S} = inet:getstat(Socket, [recv_cnt, send_cnt, send_pend]),
                 list_to_tuple([ok | [N || {_, N} <- S]])
             end,
             mf_setopts = fun(_, Os) -> inet:setopts(Socket, Os) end,
             mf_getopts = fun(_, Os) -> inet:getopts(Socket, Os) end}.

%% Has the process that carries the connection do something, with its handle.
ask(Do) ->
    asked(carrier, {do, Do}).
asked(C, What) ->
    R = monitor(process, C),
    C ! {What, self(), R},
    receive
        {R, Answer} -> demonitor(R, [flush]), Answer;
        {'DOWN', R, _, _, Why} -> exit({carrier, Why})
    end.

controller(Socket) ->
    C = spawn_opt(fun() -> before(Socket) end, [{priority, max}]),
    ok = gen_tcp:controlling_process(Socket, C),
    C.
before(Socket) ->
    receive
        {socket, From, R} -> From ! {R, Socket}, before(Socket);
        {{carry, Handle}, From, R} ->
            link(From),
            register(carrier, self()),
            Input = spawn_link(fun() -> receive go -> input(Socket, Handle) end end),
            ok = erlang:dist_ctrl_input_handler(Handle, Input),
            false = erlang:dist_ctrl_set_opt(Handle, get_size, true),
            Input ! go,
            From ! {R, ok},
            process_flag(priority, normal),
            ok = erlang:dist_ctrl_get_data_notification(Handle),
            output(Socket, Handle)
    end.

output(Socket, Handle) ->
    receive
        dist_data -> pour(Socket, Handle);
        tick -> sent(gen_tcp:send(Socket, []));
        {{do, Do}, From, R} -> From ! {R, Do(Handle)}
    end,
    output(Socket, Handle).
pour(Socket, Handle) ->
    case erlang:dist_ctrl_get_data(Handle) of
        none ->
            ok = erlang:dist_ctrl_get_data_notification(Handle);
        {Size, Data} ->
            Size = iolist_size(Data),
            sent(gen_tcp:send(Socket, Data)),
            pour(Socket, Handle)
    end.
sent(ok) -> ok;
sent({error, _}) -> exit(connection_closed).

input(Socket, Handle) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, Packet} -> ok = erlang:dist_ctrl_put_data(Handle, Packet), input(Socket, Handle);
        {error, _} -> exit(connection_closed)
    end.
