%% persistent_term with every argument.
-module(mx_persistent).
-export([main/0]).
main() ->
    [m:f(persistent_term, F, [m:few(), [v]]) || F <- [put, get]], m:fs(persistent_term, [get, erase], [m:few()]), m:f(persistent_term, get, [m:few()]),
    persistent_term:put(k, [1, {2}]), persistent_term:put(k, [1, {2}]), t:p([persistent_term:get(k), persistent_term:get(k, d), persistent_term:get(l, d), persistent_term:erase(k), persistent_term:erase(k)]).
