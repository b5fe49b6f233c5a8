%% A state machine whose work is the steps of order_vm.
-module(order_statem).
-behaviour(gen_statem).
-export([init/1, callback_mode/0, even/3, odd/3, terminate/3]).

callback_mode() -> [state_functions, state_enter].
init(Name) ->
    order_vm:note_pid(self(), Name),
    {ok, even, Name}.
even(Kind, Event, N) -> event(even, odd, Kind, Event, N).
odd(Kind, Event, N) -> event(odd, even, Kind, Event, N).

event(State, _, enter, _, N) ->
    order_vm:log(N, enter, State),
    keep_state_and_data;
event(State, Next, {call, From}, {steps, Steps}, N) ->
    order_vm:steps(Steps, N),
    {next_state, Next, N, [{reply, From, {done, State}}, {next_event, internal, State}]};
event(odd, _, cast, _, _) ->
    {keep_state_and_data, [postpone]};
event(even, Next, cast, {steps, Steps}, N) ->
    order_vm:steps(Steps, N),
    {next_state, Next, N, [{timeout, 0, idle}]};
event(State, _, Kind, Event, N) ->
    order_vm:log(N, {Kind, State}, Event),
    keep_state_and_data.
terminate(Reason, State, N) ->
    order_vm:log(N, terminate, {Reason, State}).
