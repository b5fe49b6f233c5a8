%% What fails in `apply/2`, called by name in the code, by a name found at run time, and as the first
%% function of a process: what the stack trace shows.
-module(apply_fun_traces).
-export([main/0, none/0]).
main() ->
    A = t:id(1),
    [begin
         [t:p(t:st(fun() -> G(F, B) end)) || G <- [fun last/2, fun middle/2, fun only/2, fun found/2, fun found_last/2, fun listed/2, fun mapped/2]],
         t:p([ended(spawn_monitor(G)) || G <- [fun() -> apply(F, B) end, fun() -> apply(t:id(erlang), apply, [F, B]) end]]),
         t:p(ended(spawn_monitor(erlang, apply, [F, B]))),
         t:p(ended(spawn_monitor(erlang, hibernate, [erlang, apply, [F, B]])))
     end || {F, B} <- [{0, []}, {0, [1]}, {0, x}, {0, [1 | 2]}, {fun ?MODULE:none/0, [1]}, {fun ?MODULE:none/0, x}, {{a, b}, []}]],
    [t:p(t:st(fun() -> erlang:dist_ctrl_put_data(H, Data) end)) || H <- [0, a], Data <- [[], [a], [1], [1 | 2], [<<1>> | b], <<1>>, <<1:1>>, a]].
%% The forms of a call of `apply/2`: by name in the code
%% (last, middle, only), and found as the program runs.
none() -> 0.
last(A, B) -> put(x, 1), apply(A, B).
middle(A, B) -> X = apply(A, B), put(x, 2), X.
only(A, B) -> apply(A, B).
found(A, B) -> M = t:id(erlang), F = t:id(apply), X = M:F(A, B), put(x, 2), X.
found_last(A, B) -> M = t:id(erlang), F = t:id(apply), M:F(A, B).
listed(A, B) -> X = apply(t:id(erlang), t:id(apply), [A, B]), put(x, 2), X.
mapped(A, B) -> M = t:id(erlang), lists:map(fun(F) -> M:apply(F, B) end, [A]).
ended({P, R}) -> P ! go, receive {'DOWN', R, process, P, E} -> E end.
