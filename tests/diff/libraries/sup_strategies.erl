%% Supervisors of each strategy when a child dies, and restart intensity.
-module(sup_strategies).
-export([main/0]).
-export([init/1, child/2]).
main() -> process_flag(trap_exit, true), [t:p({St, K}, one(St, K)) || St <- [one_for_one, one_for_all, rest_for_one], K <- [a, b, c]], {ok, S} = supervisor:start_link(?MODULE, {one_for_one, 1}), [begin exit(whereis(sup_a), kill), timer:sleep(5) end || _ <- [1, 2]], receive {'EXIT', S, R} -> t:p(R) after 500 -> t:p(none) end, t:p([whereis(N) || N <- [sup_a, sup_b, sup_c]]).
one(St, K) -> {ok, S} = supervisor:start_link(?MODULE, {St, 10}), Names = [sup_a, sup_b, sup_c], Before = [whereis(N) || N <- Names], exit(whereis(list_to_atom("sup_" ++ atom_to_list(K))), kill), timer:sleep(10), After = [whereis(N) || N <- Names], C = supervisor:count_children(S), unlink(S), M = monitor(process, S), exit(S, shutdown), receive {'DOWN', M, _, _, W} -> {[A =:= B || {A, B} <- lists:zip(Before, After)], C, W, [whereis(N) || N <- Names]} end.
init({St, I}) -> {ok, {#{strategy => St, intensity => I, period => 5}, [#{id => N, start => {?MODULE, child, [N, x]}} || N <- [sup_a, sup_b, sup_c]]}}.
child(N, _) -> P = proc_lib:spawn_link(fun() -> receive stop -> ok end end), register(N, P), {ok, P}.
