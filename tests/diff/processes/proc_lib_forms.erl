%% proc_lib: start with acknowledgement, its failures, initial_call, hibernate, stop.
-module(proc_lib_forms).
-export([main/0, ok/1, fail/1, die/1, silent/1, wake/1, woken/1]).
main() ->
    process_flag(trap_exit, true),
    {ok, P} = proc_lib:start_link(?MODULE, ok, [self()]),
    t:p([proc_lib:initial_call(P), proc_lib:translate_initial_call(P), element(2, process_info(P, initial_call)), element(1, lists:keyfind('$initial_call', 1, element(2, process_info(P, dictionary))))]),
    P ! stop, t:p(receive {'EXIT', P, R} -> R end),
    t:p(proc_lib:start_link(?MODULE, fail, [self()])), t:p(receive {'EXIT', _, R9} -> R9 end),
    t:p(proc_lib:start_link(?MODULE, die, [crashed])), t:p(t:flush()), t:p(proc_lib:start(?MODULE, die, [normal])),
    t:p(proc_lib:start_link(?MODULE, silent, [self()], 20)), t:p(t:flush()),
    {{ok, Q}, Ref} = proc_lib:start_monitor(?MODULE, ok, [self()]), Q ! stop, t:p(receive {'DOWN', Ref, process, Q, R1} -> R1 end),
    {Err, Ref2} = proc_lib:start_monitor(?MODULE, fail, [self()]), t:p(Err), t:p(receive {'DOWN', Ref2, _, _, R2} -> R2 end),
    {ok, S} = proc_lib:start(?MODULE, ok, [self()]), t:p(proc_lib:stop(S, normal, 500)), t:pc(fun() -> proc_lib:stop(S, normal, 500) end), t:pc(fun() -> proc_lib:stop(no_name) end),
    W = proc_lib:spawn_link(?MODULE, wake, [self()]), W ! go, t:p(receive {W, X} -> X end), t:p(receive {'EXIT', W, R3} -> R3 end),
    {Pid, Mon} = proc_lib:spawn_opt(fun() -> receive after 10 -> exit(over) end end, [monitor, {priority, high}]), t:p(receive {'DOWN', Mon, process, Pid, R4} -> R4 end),
    t:pc(fun() -> proc_lib:spawn_opt(fun() -> ok end, [bad]) end), t:pc(fun() -> proc_lib:start(a, b, []) end),
    A = proc_lib:spawn(fun() -> receive {ask, From} -> From ! {get('$ancestors'), get('$initial_call')} end end), A ! {ask, self()}, t:p(receive Y -> Y end).

ok(Parent) -> proc_lib:init_ack(Parent, {ok, self()}), loop().
loop() -> receive stop -> exit(stopped); {system, From, {terminate, Why}} -> gen:reply(From, ok), exit(Why) end.
fail(Parent) -> proc_lib:init_ack(Parent, {error, refused}), exit(refused).
die(Why) -> exit(Why).
silent(_) -> timer:sleep(5000).
wake(To) -> receive go -> ok end, self() ! again, proc_lib:hibernate(?MODULE, woken, [To]).
woken(To) -> receive again -> To ! {self(), woken} end.
