%% What BIFs leave in the stack: their arguments and error_info.
-module(exc_stack_bifs).
-export([main/0]).
main() ->
    Fs = [fun() -> element(t:id(3), {a}) end, fun() -> hd(t:id([])) end, fun() -> length(t:id(a)) end, fun() -> t:id(1) + t:id(a) end, fun() -> -t:id(a) end, fun() -> t:id(1) div t:id(0) end,
          fun() -> atom_to_list(t:id(1)) end, fun() -> list_to_integer(t:id("x")) end, fun() -> binary_to_integer(t:id(<<"x">>)) end, fun() -> list_to_tuple(t:id(a)) end, fun() -> setelement(t:id(0), {a}, b) end,
          fun() -> lists:reverse(t:id(a)) end, fun() -> lists:keyfind(a, t:id(0), []) end, fun() -> lists:member(a, t:id(b)) end, fun() -> maps:get(a, t:id(#{})) end, fun() -> ets:lookup(t:id(no_table), a) end, fun() -> ets:new(t:id(1), []) end,
          fun() -> link(t:id(a)) end, fun() -> t:id(noname) ! x end, fun() -> register(t:id(undefined), self()) end, fun() -> whereis(t:id(1)) end, fun() -> binary:part(t:id(<<1>>), 2, 3) end, fun() -> float(t:id(a)) end, fun() -> round(t:id(a)) end,
          fun() -> t:id([1]) ++ t:id(a), t:id(a) ++ [1] end, fun() -> [1] -- t:id(a) end, fun() -> iolist_to_binary(t:id([a])) end, fun() -> spawn(t:id(1), f, []) end, fun() -> process_flag(t:id(bad), true) end, fun() -> erlang:monitor(t:id(process), 1) end,
          fun() -> put_me:undef(1, 2) end, fun() -> erlang:send_after(t:id(a), self(), m) end, fun() -> apply(t:id(lists), t:id(sum), t:id([a | b])) end, fun() -> binary_to_term(t:id(<<1>>)) end, fun() -> t:id(1) bsl t:id(1.0) end, fun() -> not t:id(1) end],
    [t:p(t:st(F)) || F <- Fs].
