-module(builtin_whole).
-export([main/0]).

%% Of OTP's libraries only what is native there is built in, whatever is native here; xref asks with an
%% arity of -1.
main() ->
    t:p([erlang:is_builtin(M, F, A)
         || {M, F, A} <- [{erlang, min, 2}, {erlang, max, 2}, {erlang, memory, 0}, {erlang, alias, 0},
                          {erlang, alias, 1}, {io_lib, collect_line_bin, 4}, {lists, keyfind, 3},
                          {prim_file, is_translatable, 1}, {prim_file, open_nif, 2}, {erlang, apply, 3}]]),
    t:pc(fun() -> erlang:is_builtin(a, b, -1) end),
    t:pc(fun() -> erlang:is_builtin('$M_EXPR', '$F_EXPR', 1 bsl 40) end),
    t:pc(fun() -> erlang:is_builtin(a, b, 1 bsl 70) end),
    t:pc(fun() -> erlang:is_builtin(a, "b", 1) end),
    Natives = [{M, F, A} || M <- [erlang, erts_internal, lists, maps, io_lib, string, math, binary, re, ets, os, unicode, code],
                            {F, A} <- M:module_info(exports), erlang:is_builtin(M, F, A)],
    t:p(lists:sort(Natives)).
