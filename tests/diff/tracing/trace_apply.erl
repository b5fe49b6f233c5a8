%% Calls of erlang:apply/2 are traced: those a new process begins with.
-module(trace_apply).
-export([main/0, f/1]).

f(X) -> X.

main() ->
    t:p([erlang:trace_pattern({erlang, apply, A}, true, [local]) || A <- [2, 3]]),
    S = self(),
    P0 = spawn(fun() ->
        receive go -> ok end,
        apply(t:id(fun(X) -> X end), t:id([1])),
        apply(t:id(?MODULE), t:id(f), t:id([3])),
        apply(t:id(erlang), t:id(apply), [fun ?MODULE:f/1, [2]]),
        S ! done
    end),
    1 = erlang:trace(P0, true, [call]),
    P0 ! go,
    receive done -> ok end,
    show(P0),
    erlang:trace(new, true, [call]),
    P1 = spawn(fun() -> S ! done end),
    receive done -> ok end,
    show(P1),
    {P2, R2} = spawn_monitor(?MODULE, f, [1]),
    receive {'DOWN', R2, _, _, _} -> ok end,
    show(P2),
    {P3, R3} = spawn_monitor(erlang, apply, [fun ?MODULE:f/1, [7]]),
    receive {'DOWN', R3, _, _, _} -> ok end,
    show(P3),
    erlang:trace(new, false, [call]),
    t:p([erlang:trace_pattern({erlang, apply, A}, false, [local]) || A <- [2, 3]]).

show(P) ->
    R = erlang:trace_delivered(P),
    receive {trace_delivered, P, R} -> ok end,
    all(P).
all(P) ->
    receive {trace, P, call, {M, F, [A | As]}} when is_function(A) -> t:p({M, F, a_fun, As}), all(P);
            {trace, P, call, C} -> t:p(C), all(P)
    after 0 -> t:p('end')
    end.
