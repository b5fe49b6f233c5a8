%% Servers, supervisors and processes of proc_lib whose work is the steps of order_vm.
-module(order_server).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, started/2]).

init({sup, Name, Children}) ->
    order_vm:note_pid(self(), Name),
    {Strategy, Specs} = Children,
    Flags = #{strategy => Strategy, intensity => 2, period => 3600},
    {ok, {Flags, [child(S) || S <- Specs]}};
init(Name) ->
    order_vm:note_pid(self(), Name),
    order_vm:log(Name, init, ok),
    {ok, Name}.

child({Name, Restart, Shutdown, Steps}) ->
    #{id => Name, restart => Restart, shutdown => Shutdown,
      start => {order_vm, start_child, [Name, Steps]}}.

handle_call({steps, Steps}, _, N) ->
    order_vm:steps(Steps, N),
    {reply, done, N}.
handle_cast({steps, Steps}, N) ->
    order_vm:steps(Steps, N),
    {noreply, N}.
handle_info(M, N) ->
    order_vm:log(N, handle_info, M),
    {noreply, N}.
terminate(Reason, N) ->
    order_vm:log(N, terminate, Reason).

started(Name, Steps) ->
    order_vm:note_pid(self(), Name),
    proc_lib:init_ack({ok, self()}),
    order_vm:steps(Steps, Name).
