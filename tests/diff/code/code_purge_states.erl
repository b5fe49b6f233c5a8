%% Old code and who is in it: processes that wait, run, are suspended, hibernate, sleep in a call, block in a file,
%% have a handler or a fun there, and the one that asks itself. Each is asked for softly, then hard.
-module(code_purge_states).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    file:set_cwd(t:tmp("purge_states")),
    os:cmd("mkfifo fifo"),
    [each(What) || What <- [receives, with_timeout, local_call, busy, busy_call, handler, handler_busy, calls_out, bif, sleeps,
                            blocks, hibernates, hibernates_here, left, has_fun, runs_fun, garbage, signalled, sends]],
    [suspended(What) || What <- [receives, busy, local_call, left, has_fun, runs_fun, hibernates_here]],
    [self_asks(What) || What <- [soft, hard, check, delete, load, load_file]],
    two_callers(),
    waits_for_purge(),
    waits_in_vain().

%% What a soft and a hard purge say of a process in this state, and what becomes of it.
each(What) ->
    Pid = in_old_code(What),
    t:p(What, judge(Pid)).

suspended(What) ->
    Pid = in_old_code(What),
    true = erlang:suspend_process(Pid),
    Uses = limit(fun() -> erlang:check_process_code(Pid, m_old) end),
    Soft = limit(fun() -> code:soft_purge(m_old) end),
    Hard = limit(fun() -> code:purge(m_old) end),
    Alive = is_process_alive(Pid),
    Resumed = t:c(fun() -> erlang:resume_process(Pid) end),
    t:p({suspended, What}, {Uses, Soft, Hard, Alive, Resumed}),
    stop(Pid).

in_old_code(What) ->
    fresh(),
    Me = self(),
    Pid = spawn(fun() -> m_old:run(What, Me) end),
    receive {Pid, there} -> ok after 10000 -> exit({not_there, What}) end,
    %% It is where it wants to be: past its message, and in the call or the wait.
    until(fun() -> settled(Pid, What) end),
    load(2),
    Pid.

settled(Pid, What) when What =:= busy; What =:= busy_call; What =:= handler_busy; What =:= garbage; What =:= sends;
                        What =:= bif -> is_process_alive(Pid);
settled(Pid, blocks) -> element(1, element(2, process_info(Pid, current_function))) =/= m_old;
settled(Pid, _) -> process_info(Pid, status) =:= {status, waiting}.

judge(Pid) ->
    Uses = limit(fun() -> erlang:check_process_code(Pid, m_old) end),
    Soft = limit(fun() -> code:soft_purge(m_old) end),
    M = monitor(process, Pid),
    Hard = limit(fun() -> code:purge(m_old) end),
    Down = receive {'DOWN', M, _, _, R} -> R after 0 -> alive end,
    Old = erlang:check_old_code(m_old),
    demonitor(M, [flush]),
    stop(Pid),
    {Uses, Soft, Hard, Down, Old}.

stop(Pid) ->
    M = monitor(process, Pid),
    exit(Pid, kill),
    receive {'DOWN', M, _, _, _} -> ok after 10000 -> t:p(does_not_end) end,
    release().

%% Whoever opens the fifo to read gets a writer.
release() ->
    case file:open("fifo", [read, write, raw]) of
        {ok, F} -> file:close(F);
        E -> t:p(E)
    end.

%% A process that runs the code it asks about.
self_asks(How) ->
    fresh(),
    Me = self(),
    {Pid, M} = spawn_monitor(fun() -> m_old:ask(How, Me) end),
    receive {Pid, there} -> ok end,
    load(2),
    Pid ! go,
    Said = receive {Pid, R} -> R; {'DOWN', M, _, _, R} -> {down, R} after 20000 -> hangs end,
    demonitor(M, [flush]),
    %% The code server has done what it was asked for when it answers once more. Since OTP 26 is_loaded/1 asks its table.
    [_ | _] = code:get_path(),
    stop(Pid),
    t:p({asks, How}, {Said, erlang:check_old_code(m_old), m_old:version()}).

%% Two processes in the code that stands; each has it loaded anew and goes on when what is old then is gone. The first
%% does; the second runs in it itself, and no number of tries helps until it has left.
two_callers() ->
    fresh(),
    Me = self(),
    [A, B] = [spawn(fun() -> m_old:renew(Me) end) || _ <- [1, 2]],
    [receive {P, there} -> ok end || P <- [A, B]],
    Ask = fun(P, X) -> P ! X, receive {P, R} -> R after 20000 -> hangs end end,
    t:p({first, Ask(A, {soft, 1})}),
    load(2),
    t:p({first_leaves, Ask(A, leave)}),
    t:p({second, Ask(B, {soft, 300})}),
    t:p({other, limit(fun() -> code:soft_purge(m_old) end)}),
    t:p({second_leaves, Ask(B, leave)}),
    t:p({now, limit(fun() -> code:soft_purge(m_old) end)}).

%% Who calls a fun of code that is being purged waits for the end of that, also when it is asked itself, suspended,
%% collected or killed meanwhile.
waits_for_purge() ->
    [begin
         fresh(),
         F = m_old:make(),
         load(2),
         Ref = make_ref(),
         erts_code_purger ! {test_purge, m_old, self(), Hard, Ref},
         receive {started, Ref} -> ok end,
         Me = self(),
         Pids = [spawn(fun() -> Me ! {self(), t:c(fun() -> F(I) end)} end) || I <- lists:seq(1, 5)],
         [until(fun() -> process_info(P, status) =:= {status, suspended} end) || P <- Pids],
         [A, B, C, D | _] = Pids,
         t:p(process_info(A, current_function)),
         t:p(limit(fun() -> erlang:check_process_code(A, m_old) end)),
         t:p(limit(fun() -> erlang:garbage_collect(B) end)),
         exit(C, kill),
         erlang:suspend_process(D),
         erts_code_purger ! {continue, Ref},
         receive {continued, Ref} -> ok after 20000 -> t:p(hangs) end,
         erts_code_purger ! {complete, Ref},
         receive {test_purge, Res, Ref} -> t:p({purged, Hard, Res}) after 20000 -> t:p(hangs) end,
         [t:p(receive {P, R} -> R after 20000 -> hangs end) || P <- Pids -- [C, D]],
         t:p(receive {D, _} -> not_suspended after 100 -> suspended end),
         erlang:resume_process(D),
         t:p(receive {D, R} -> R after 20000 -> hangs end)
     end || Hard <- [true, false]].

until(F) -> until(F, 2000).
until(_, 0) -> exit(too_late);
until(F, N) -> (catch F()) =:= true orelse begin timer:sleep(5), until(F, N - 1) end.

%% The same where the purge is given up, as the code is in use: the calls come to what they would have.
waits_in_vain() ->
    Pid = in_old_code(receives_and_makes),
    F = receive {Pid, made, G} -> G after 20000 -> exit(no_fun) end,
    Ref = make_ref(),
    erts_code_purger ! {test_purge, m_old, self(), false, Ref},
    receive {started, Ref} -> ok end,
    Me = self(),
    Pids = [spawn(fun() -> Me ! {self(), t:c(fun() -> F(I) end)} end) || I <- lists:seq(1, 3)],
    [until(fun() -> process_info(P, status) =:= {status, suspended} end) || P <- Pids],
    erts_code_purger ! {continue, Ref},
    receive {continued, Ref} -> ok after 20000 -> t:p(hangs) end,
    erts_code_purger ! {complete, Ref},
    receive {test_purge, Res, Ref} -> t:p({given_up, Res}) after 20000 -> t:p(hangs) end,
    [t:p(receive {P, R} -> R after 20000 -> hangs end) || P <- Pids],
    stop(Pid).

%% The answer, or that there was none in time.
limit(F) ->
    {Pid, M} = spawn_monitor(fun() -> exit({value, F()}) end),
    receive
        {'DOWN', M, _, _, {value, V}} -> V;
        {'DOWN', M, _, _, Why} -> {down, Why}
    after 20000 ->
        {hangs, process_info(Pid, current_stacktrace)}
    end.

fresh() ->
    code:purge(m_old), code:delete(m_old), code:purge(m_old),
    load(1).

load(N) ->
    {module, m_old} = code:load_binary(m_old, "m_old.erl", beam(N)).

beam(N) ->
    case get({beam, N}) of
        undefined ->
            file:write_file("m_old.erl", ["-module(m_old).\n-compile([export_all, nowarn_export_all]).\nversion() -> ",
                                          integer_to_list(N), ".\n", source()]),
            {ok, m_old, B} = compile:file("m_old.erl", [binary]),
            file:write_file("m_old.beam", B),
            put({beam, N}, B),
            B;
        B -> B
    end.

source() -> "
run(What, Pid) -> There = fun() -> Pid ! {self(), there} end, R = state(What, There), {R, What}.
f(T, F) -> T(), {env, [Pid]} = erlang:fun_info(T, env), Pid ! {self(), made, F}.
state(receives, T) -> T(), receive never -> ok end;
state(receives_and_makes, T) -> F = fun(X) -> {X, version()} end, f(T, F), receive never -> ok end;
state(with_timeout, T) -> T(), receive never -> ok after 1000000 -> ok end;
state(local_call, T) -> {local(T, 100), ok};
state(busy, T) -> T(), loop(0);
state(busy_call, T) -> T(), {loop(0), ok};
state(handler, T) -> try T(), receive never -> ok end catch _:_ -> ok end;
state(handler_busy, T) -> try T(), loop(0) catch _:_ -> ok end;
state(calls_out, T) -> T(), {gen:call(spawn(timer, sleep, [infinity]), a, b, infinity), ok};
state(bif, T) -> T(), {long(lists:seq(1, 1000)), ok};
state(sleeps, T) -> T(), timer:sleep(infinity), ok;
state(blocks, T) -> T(), {file:open(\"fifo\", [read, raw]), ok};
state(hibernates, T) -> T(), erlang:hibernate(m_old, version, []);
state(hibernates_here, T) -> T(), {erlang:hibernate(timer, sleep, [infinity]), ok};
state(left, T) -> T(), exit(out(self()));
state(has_fun, T) -> put(f, fun() -> version() end), spawn_link(timer, sleep, [infinity]), T(), exit(out(fun() -> version() end));
state(runs_fun, T) -> F = fun() -> T(), receive never -> version() end end, {F(), ok};
state(garbage, T) -> T(), grow([]);
state(signalled, T) -> T(), receive never -> ok end;
state(sends, T) -> T(), send(self()).
out(_) -> erlang:hibernate(timer, sleep, [infinity]).
local(T, 0) -> T(), receive never -> ok end;
local(T, N) -> [N | local(T, N - 1)].
loop(N) -> loop(N + 1).
long(L) -> {[X || X <- L, _ <- lists:reverse(L)], 1}, long(L).
grow(L) when length(L) > 1000 -> grow([]);
grow(L) -> grow([L | [L]]), grow([1 | L]).
send(P) -> P ! hello, receive hello -> send(P) end.
make() -> fun(X) -> {X, version()} end.
ask(How, Pid) -> Pid ! {self(), there}, receive go -> ok end, asked(How, Pid).
asked(soft, Pid) -> R = code:soft_purge(m_old), Pid ! {self(), R}, receive never -> ok end;
asked(hard, Pid) -> R = code:purge(m_old), Pid ! {self(), R}, receive never -> ok end;
asked(check, Pid) -> Pid ! {self(), erlang:check_process_code(self(), m_old)}, receive never -> ok end;
asked(delete, Pid) -> R = (catch code:delete(m_old)), Pid ! {self(), R}, receive never -> ok end;
asked(load, Pid) -> {ok, B} = file:read_file(\"m_old.beam\"), R = code:load_binary(m_old, \"m_old\", B), Pid ! {self(), R}, receive never -> ok end;
asked(load_file, Pid) -> code:add_patha(\".\"), R = code:load_file(m_old), Pid ! {self(), R}, receive never -> ok end.
renew(Pid) -> Pid ! {self(), there}, {renewed(Pid), ok}, leave(Pid).
renewed(Pid) ->
    receive
        {soft, N} -> Pid ! {self(), lists:usort([code:soft_purge(m_old) || _ <- lists:seq(1, N)])}, renewed(Pid);
        leave -> ok
    end.
leave(Pid) -> m_old:left(Pid).
left(Pid) -> Pid ! {self(), version()}, erlang:hibernate(timer, sleep, [infinity]).
".
