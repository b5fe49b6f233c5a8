%% What a module exports includes what the machine does itself.
-module(module_natives).
-export([main/0]).

main() ->
    [t:p({M, lists:sort(M:module_info(exports))}) || M <- [lists, maps, binary, math, string, re, unicode]],
    t:p(lists:usort([lists:member(FA, lists:module_info(exports))
                     || FA <- [{keyfind, 3}, {member, 2}, {reverse, 2}, {reverse, 1}]])),
    t:p(erlang:function_exported(lists, keyfind, 3)).
