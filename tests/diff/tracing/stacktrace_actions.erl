%% since 27
-module(stacktrace_actions).
-export([main/0, outer/1, middle/1, inner/1, body/1]).

%% Match specifications of traced functions that ask for the stack trace.
main() ->
    [spec(A) || A <- [{current_stacktrace, a}, {current_stacktrace, -1}, {current_stacktrace, 1, 2},
                      {current_stacktrace, {'+', 1, 1}}, {current_stacktrace, 1 bsl 70}]],
    io:format("in a guard: ~p~n", [catch erlang:trace_pattern({?MODULE, inner, 1},
                                        [{'_', [{current_stacktrace}], []}], [local])]),
    io:format("in a table: ~p~n", [element(1, element(2, catch ets:match_spec_compile(
                                        [{'_', [], [{current_stacktrace}]}])))]),
    [trace(A) || A <- [{current_stacktrace}, {current_stacktrace, 0}, {current_stacktrace, 1},
                       {current_stacktrace, 2}, {current_stacktrace, 1000}]],
    Old = erlang:system_flag(backtrace_depth, 1),
    trace({current_stacktrace}),
    erlang:system_flag(backtrace_depth, Old).

spec(A) ->
    R = (catch erlang:trace_pattern({?MODULE, inner, 1}, [{'_', [], [{message, A}]}], [local])),
    io:format("~p: ~p~n", [A, case R of {'EXIT', {Why, _}} -> Why; _ -> R end]).

trace(A) ->
    1 = erlang:trace_pattern({?MODULE, inner, 1}, [{'_', [], [{message, A}]}], [local]),
    1 = erlang:trace_pattern({?MODULE, middle, 1}, [{'_', [], [{message, A}, {return_trace}]}], [local]),
    Self = self(),
    P = spawn(fun() -> receive go -> outer(1) end, Self ! done end),
    1 = erlang:trace(P, true, [call]),
    P ! go,
    receive done -> ok end,
    D = erlang:trace_delivered(P),
    receive {trace_delivered, P, D} -> ok end,
    io:format("~p~n", [A]),
    [io:format("  ~p~n", [short(M)]) || M <- messages()].

messages() ->
    receive M -> [M | messages()] after 0 -> [] end.

short({trace, _, call, {_, F, _}, Stack}) ->
    {F, [{G, Arity, proplists:get_value(line, L)} || {_, G, Arity, L} <- Stack]};
short(M) ->
    erlang:delete_element(2, M).

outer(X) -> Y = middle(X), {outer, Y}.
middle(X) -> Y = body(X), {middle, Y}.
body(X) -> inner(X).
inner(X) -> X + 1.
