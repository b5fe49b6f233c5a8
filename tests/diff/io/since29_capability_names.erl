%% since 29
%% The names of the capabilities of terminals: io_ansi:tinfo/0.
-module(since29_capability_names).
-export([main/0]).

main() ->
    Kinds = prim_tty:tinfo(),
    t:p(lists:sort(maps:keys(Kinds))),
    [begin
         All = maps:get(Kind, Kinds),
         t:p({Kind, length(All), hd(All), lists:last(All), erlang:phash2([{C, N, F} || #{code := C, name := N, full_name := F} <- All])})
     end || Kind <- [bool, num, str]],
    t:p(Kinds =:= io_ansi:tinfo()).
