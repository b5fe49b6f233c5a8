%% Arithmetic on two numbers of every kind.
-module(mx_arith).
-export([main/0]).
main() -> m:fs(erlang, ['+', '-', '*', '/', 'div', 'rem'], [m:nums() ++ m:ints(), m:nums() ++ m:ints()]).
