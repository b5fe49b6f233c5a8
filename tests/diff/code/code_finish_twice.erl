%% finish_loading/1: what it refuses, and what it says of a module that is there twice.
-module(code_finish_twice).
-export([main/0]).

main() ->
    [t:pc(fun() -> erlang:finish_loading(X) end) || X <- [x, [x | y], [x], [<<>>], [make_it]]],
    A = prepare(finish_a), B = prepare(finish_b), A2 = prepare(finish_a),
    t:p(erlang:finish_loading([A, B, A, B])),
    t:p(erlang:finish_loading([A, A2])),
    t:p(erlang:finish_loading([A, B])),
    t:p([M:f() || M <- [finish_a, finish_b]]),
    t:p(erl_tracer:module_info(nifs)),
    t:p(lists:module_info(nifs)).

prepare(M) ->
    Forms = [{attribute, 1, module, M}, {attribute, 1, export, [{f, 0}]},
             {function, 1, f, 0, [{clause, 1, [], [], [{atom, 1, M}]}]}],
    {ok, M, Code} = compile:forms(Forms),
    erlang:prepare_loading(M, Code).
