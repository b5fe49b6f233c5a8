%% Which atoms are variables of a pattern: '$0', and numbers without a leading 0 that 32 bits hold.
-module(ets_variable_names).
-export([main/0]).

main() ->
    T = ets:new(t, []),
    [ets:insert(T, {K, K}) || K <- [a, '$01', '$00', '$1', '$2147483648', 1]],
    Names = ['$0', '$1', '$01', '$00', '$2147483647', '$2147483648', '$', '$a', '$1a', '_1', '_'],
    [io:format("~w ~w~n", [Name, lists:sort(ets:match(T, {Name, '_'}))]) || Name <- Names],
    [io:format("~w ~w~n", [Name, lists:sort(ets:match_object(T, {Name, Name}))]) || Name <- Names],
    io:format("~w~n", [lists:sort(ets:select(T, [{{'$1', '$1'}, [], ['$01']}]))]),
    halt().
