%% Names: taking, giving up, dying with them.
-module(sig_registered_race).
-export([main/0]).
main() ->
    P = spawn(fun() -> receive stop -> ok end end), t:p(register(rr, P)), [t:p(m:outcome(erlang, register, A)) || A <- [[rr, P], [rr, self()], [rr2, P], [undefined, self()], [rr3, nobody]]],
    t:p(lists:member(rr, registered())), t:p(process_info(P, registered_name)), rr ! stop, M = monitor(process, P), receive {'DOWN', M, _, _, _} -> ok end, t:p(whereis(rr)), t:p(t:c(fun() -> rr ! x end)), t:p(t:c(fun() -> {rr, node()} ! x end)), t:p(t:c(fun() -> erlang:send(rr, x, []) end)),
    t:p(process_info(self(), registered_name)), register(me, self()), t:p(process_info(self(), registered_name)), me ! hello, t:p(t:flush()), unregister(me), t:p(process_info(self(), registered_name)), t:p(m:outcome(erlang, unregister, [me])).
