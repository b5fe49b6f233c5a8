-module(native_exports).
-export([main/0]).

%% module_info(exports) has the natives too, those without a line in their module's file among them;
%% what OTP has as local functions that a NIF replaces stays local.
main() ->
    [t:p({M, F, A, lists:member({F, A}, M:module_info(exports))})
     || {M, F, A} <- [{erlang, '==', 2}, {erlang, '!', 2}, {erlang, length, 1}, {erlang, error, 1},
                      {erlang, apply, 3}, {erlang, halt, 0}, {lists, reverse, 2}, {lists, map, 2},
                      {math, sin, 1}, {ets, lookup, 2}, {atomics, get, 2}, {re, run, 3},
                      {binary, split, 2}, {prim_file, open, 2}, {prim_file, open_nif, 2},
                      {erlang, no_such, 0}]],
    [t:p({M, length(E) =:= length(lists:usort(E)), [F || F <- E, not callable(M, F)]})
     || M <- [erlang, lists, maps, ets, erts_internal, math, re, os, binary, unicode, file, string],
        E <- [M:module_info(exports)]].

callable(M, {F, A}) ->
    erlang:function_exported(M, F, A).
