%% register, unregister, whereis, sending to names, names of the dead.
-module(registered).
-export([main/0]).
main() ->
    t:p(register(me, self())), t:p(whereis(me) =:= self()), me ! hi, t:p(t:flush()), t:p({me, node()} ! there), t:p(t:flush()), t:p(lists:member(me, registered())), t:p(process_info(self(), registered_name)),
    t:pc(fun() -> register(me, spawn(fun() -> receive x -> x end end)) end), t:pc(fun() -> register(me2, self()) end), t:p(unregister(me)), t:pc(fun() -> unregister(me) end), t:p(whereis(me)), t:pc(fun() -> t:id(me) ! x end), t:p({me, node()} ! lost), t:p(process_info(self(), registered_name)),
    P = spawn(fun() -> receive stop -> ok end end), register(other, P), M = monitor(process, P), other ! stop, receive {'DOWN', M, _, _, _} -> ok end, t:p(whereis(other)), t:pc(fun() -> register(dead, P) end), t:pc(fun() -> register(t:id("x"), self()) end), t:pc(fun() -> register(x, t:id(y)) end),
    t:p(erlang:send(self(), m1)), t:p(erlang:send(self(), m2, [nosuspend, noconnect])), t:p(erlang:send_nosuspend(self(), m3)), t:p(t:flush()), t:pc(fun() -> erlang:send(t:id(1), x) end), t:pc(fun() -> t:id({a, b, c}) ! x end), t:p({noname, 'other@nowhere'} ! x).
