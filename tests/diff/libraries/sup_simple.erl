%% simple_one_for_one: starting, listing, terminating many children.
-module(sup_simple).
-export([main/0]).
-export([init/1, child/2]).
main() -> {ok, S} = supervisor:start_link(?MODULE, []), Ps = [begin {ok, P} = supervisor:start_child(S, [I]), P end || I <- lists:seq(1, 20)], t:p([begin P ! {get, self()}, receive {v, V} -> V end end || P <- Ps]), t:p(supervisor:count_children(S)), t:p(lists:usort([{I, T, M} || {I, _, T, M} <- supervisor:which_children(S)])), t:p(supervisor:terminate_child(S, hd(Ps))), t:p(supervisor:terminate_child(S, self())), t:p(supervisor:start_child(S, [bad])), t:p(supervisor:start_child(S, [none])), t:p(supervisor:delete_child(S, x)), exit(lists:nth(2, Ps), kill), lists:nth(3, Ps) ! stop, timer:sleep(10), t:p(supervisor:count_children(S)), unlink(S), M = monitor(process, S), exit(S, shutdown), receive {'DOWN', M, _, _, R} -> t:p(R) end, t:p([P || P <- Ps, is_process_alive(P)]).
init(_) -> {ok, {#{strategy => simple_one_for_one, intensity => 5}, [#{id => c, start => {?MODULE, child, [tag]}, restart => transient, shutdown => 50}]}}.
child(_, bad) -> {error, bad}; child(_, none) -> ignore; child(T, V) -> {ok, proc_lib:spawn_link(fun() -> loop({T, V}) end)}.
loop(V) -> receive {get, F} -> F ! {v, V}, loop(V); stop -> ok end.
