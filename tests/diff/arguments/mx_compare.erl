%% Comparisons of every kind of term with every other.
-module(mx_compare).
-export([main/0]).
main() ->
    As = m:any() ++ m:nums() ++ m:maps(),
    m:fs(erlang, ['==', '/=', '=:=', '=/=', '<', '>', '=<', '>='], [As, As]),
    m:fs(erlang, [max, min], [m:any(), m:any()]).
