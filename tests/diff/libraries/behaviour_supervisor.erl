%% supervisor: strategies, restart kinds, intensity, shutdown order, children
%% added and taken away.
-module(behaviour_supervisor).
-behaviour(supervisor).
-export([main/0, init/1, start/2, child/2]).
main() ->
    process_flag(trap_exit, true),
    [strategy(S) || S <- [one_for_one, one_for_all, rest_for_one]],
    kinds(), dynamic(), simple(), intensity(), bad().

strategy(S) ->
    {ok, Sup} = supervisor:start_link(?MODULE, {#{strategy => S, intensity => 5, period => 10}, [spec(N, permanent) || N <- [a, b, c]]}),
    t:p(S, started(3)),
    kill(Sup, b), t:p({S, after_kill}, lists:sort(started(case S of one_for_one -> 1; one_for_all -> 3; rest_for_one -> 2 end))),
    t:p(supervisor:count_children(Sup)), t:p([{I, T, M} || {I, _, T, M} <- supervisor:which_children(Sup)]),
    stop(Sup), t:p(stopped, t:flush()).

kinds() ->
    {ok, Sup} = supervisor:start_link(?MODULE, {{one_for_one, 10, 10}, [spec(p, permanent), spec(t, transient), spec(x, temporary)]}),
    t:p(started(3)),
    [begin tell(Sup, Id, Why), timer:sleep(20), t:p({Id, Why}, {t:flush(), [I || {I, Q, _, _} <- supervisor:which_children(Sup), is_pid(Q)]}) end
     || {Id, Why} <- [{p, normal}, {p, crash}, {t, shutdown}, {x, crash}]],
    t:p(supervisor:restart_child(Sup, t)), t:p(started(1)), tell(Sup, t, crash), t:p(started(1)),
    stop(Sup), t:flush().

dynamic() ->
    {ok, Sup} = supervisor:start_link(?MODULE, {{one_for_one, 1, 5}, []}),
    t:p(supervisor:start_child(Sup, spec(one, permanent))), t:p(supervisor:start_child(Sup, spec(one, permanent))),
    t:p(supervisor:delete_child(Sup, one)), t:p(supervisor:terminate_child(Sup, one)), t:p(supervisor:delete_child(Sup, one)),
    t:p(supervisor:delete_child(Sup, one)), t:p(supervisor:restart_child(Sup, none)),
    t:p(supervisor:start_child(Sup, #{id => f, start => {?MODULE, child, [fail, self()]}})),
    t:p(supervisor:start_child(Sup, #{id => i, start => {?MODULE, child, [ignore, self()]}})),
    t:p(supervisor:start_child(Sup, #{id => bad})), t:p(supervisor:start_child(Sup, nonsense)), t:p(supervisor:get_childspec(Sup, i)),
    t:p([{I, Q} || {I, Q, _, _} <- supervisor:which_children(Sup)]),
    t:flush(), stop(Sup), t:flush().

simple() ->
    {ok, Sup} = supervisor:start_link(?MODULE, {#{strategy => simple_one_for_one}, [#{id => s, start => {?MODULE, start, [self()]}, restart => temporary}]}),
    Pids = [begin {ok, Q} = supervisor:start_child(Sup, [N]), Q end || N <- [1, 2, 3]],
    t:p(started(3)), t:p(supervisor:count_children(Sup)), t:p(supervisor:terminate_child(Sup, hd(Pids))),
    t:p(length(supervisor:which_children(Sup))), t:p(supervisor:terminate_child(Sup, 1)),
    stop(Sup), t:p(length(t:flush())).

intensity() ->
    {ok, Sup} = supervisor:start_link(?MODULE, {#{strategy => one_for_one, intensity => 1, period => 60}, [spec(a, permanent)]}),
    t:p(started(1)), kill(Sup, a), t:p(started(1)), kill(Sup, a),
    t:p(receive {'EXIT', Sup, R} -> R end), t:flush().

bad() ->
    [t:p(supervisor:start_link(?MODULE, S)) || S <- [{{wrong, 1, 1}, []}, {{one_for_one, 1, 1}, [{a, b}]}, ignore, {{one_for_one, 1, 1}, [spec(f, permanent, fail)]},
                                                     {{one_for_one, 1, 1}, [spec(a, permanent), spec(a, permanent)]}]],
    t:p(supervisor:check_childspecs([#{id => a, start => {m, f, []}}, {b, {m, f, []}, permanent, 10, worker, [m]}])),
    t:p(supervisor:check_childspecs([#{id => a, start => {m, f, []}, restart => never}])).

spec(Id, Restart) -> spec(Id, Restart, Id).
spec(Id, Restart, What) -> #{id => Id, start => {?MODULE, child, [What, self()]}, restart => Restart, shutdown => 1000}.

init(ignore) -> ignore;
init(X) -> {ok, X}.
child(fail, _) -> {error, cannot};
child(ignore, _) -> ignore;
child(Name, To) -> start(To, Name).
start(To, Name) ->
    Sup = self(),
    {ok, proc_lib:spawn_link(fun() -> process_flag(trap_exit, true), To ! {started, Name}, loop(Sup, To, Name) end)}.
loop(Sup, To, Name) ->
    receive {'EXIT', Sup, R} -> To ! {stopped, Name, R}, exit(R); {exit, R} -> exit(R) end.

started(N) -> [receive {started, X} -> X after 1000 -> timeout end || _ <- lists:seq(1, N)].
pid(Sup, Id) -> {Id, P, _, _} = lists:keyfind(Id, 1, supervisor:which_children(Sup)), P.
kill(Sup, Id) -> exit(pid(Sup, Id), kill).
tell(Sup, Id, R) -> pid(Sup, Id) ! {exit, R}.
stop(Sup) -> unlink(Sup), M = monitor(process, Sup), exit(Sup, shutdown), receive {'DOWN', M, _, _, R} -> t:p(sup, R) end.
