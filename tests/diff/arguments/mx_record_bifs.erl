%% is_record/2 and is_record/3 as functions.
-module(mx_record_bifs).
-export([main/0]).
main() ->
    Ts = [{}, {a}, {a, b}, {"a", b}, a, [], {1, 2}],
    m:f(erlang, is_record, [Ts, [a, b, "a", 1]]),
    m:f(erlang, is_record, [Ts, [a, b, "a"], [0, 1, 2, -1, a, 1 bsl 70]]).
