%% A module that many processes are in is loaded, purged and deleted by many others and by those who run its code, at
%% the same time: every call comes back, and in the end nobody is left waiting.
-module(code_purge_storm).
-export([main/0]).

-define(LIMIT, 20000).

main() ->
    process_flag(trap_exit, true),
    Seconds = case os:getenv("STORM_SECONDS") of false -> 3; S -> list_to_integer(S) end,
    Beams = [beam(N) || N <- lists:seq(1, 6)],
    load(hd(Beams)),
    Done = ets:new(done, [named_table, public]),
    End = erlang:monotonic_time(millisecond) + Seconds * 1000,
    Work = [busy, waits, local, funs, funs, hibernates, calls, suspends, garbage, own_soft, own_soft, own_load, own_purge, own_delete, blocks, dies],
    Ops = [soft, soft, hard, load, load, delete, checks, gc, load_erlang],
    Actors = [fun() -> work(W, Beams, End) end || W <- Work, _ <- [1, 2]] ++ [fun() -> ops(O, Beams, End) end || O <- Ops],
    Keepers = [spawn_link(fun() -> keep(A, End) end) || A <- Actors],
    %% Each has to end in time; who does not is shown.
    Hangs = [K || K <- Keepers, not ended(K, End + ?LIMIT)],
    [t:p(hangs, where(K)) || K <- Hangs],
    t:p({hangs, length(Hangs)}),
    t:p([O || {O, N} <- lists:sort(ets:tab2list(Done)), N >= 1]),
    os:getenv("STORM_SECONDS") =:= false orelse io:format(standard_error, "~p~n", [ets:tab2list(Done)]),
    %% And the machine is as it was.
    code:purge(m_storm), load(hd(Beams)), code:purge(m_storm),
    t:p({m_storm:version(), code:soft_purge(m_storm), erlang:check_old_code(m_storm)}),
    t:p(suspended(100)).

%% Whom a killed process had suspended goes on.
suspended(0) -> [erlang:process_info(P, current_stacktrace) || P <- processes(), process_info(P, status) =:= {status, suspended}];
suspended(N) ->
    [] =:= [P || P <- processes(), process_info(P, status) =:= {status, suspended}] orelse begin timer:sleep(50), suspended(N - 1) end.

ended(K, Until) ->
    receive {'EXIT', K, _} -> true after max(0, Until - erlang:monotonic_time(millisecond)) -> false end.

where(K) ->
    {links, Ls} = process_info(K, links),
    [{process_info(P, status), process_info(P, current_stacktrace), process_info(P, messages)} || P <- [K | Ls], is_pid(P)].

%% A purge may kill any of them: then it starts again.
keep(Actor, End) ->
    process_flag(trap_exit, true),
    Pid = spawn_link(Actor),
    receive {'EXIT', Pid, _} -> ok end,
    erlang:monotonic_time(millisecond) < End andalso keep(Actor, End).

past(End) -> erlang:monotonic_time(millisecond) >= End.

work(W, Beams, End) ->
    %% The module may not be there, or its fun not.
    ets:update_counter(done, W, 1, {W, 0}),
    catch m_storm:work(W, lists:nth(rand:uniform(length(Beams)), Beams)),
    timer:sleep(rand:uniform(3)),
    past(End) orelse work(W, Beams, End).

ops(O, Beams, End) ->
    ets:update_counter(done, O, 1, {O, 0}),
    op(O, lists:nth(rand:uniform(length(Beams)), Beams)),
    timer:sleep(1),
    past(End) orelse ops(O, Beams, End).

op(soft, _) -> code:soft_purge(m_storm);
op(hard, _) -> code:purge(m_storm);
op(load, B) -> code:soft_purge(m_storm) andalso load(B);
op(load_erlang, B) -> catch erlang:load_module(m_storm, B);
op(delete, _) -> catch code:delete(m_storm);
op(checks, _) -> [catch erlang:check_process_code(P, m_storm) || P <- processes()];
op(gc, _) -> [catch erlang:garbage_collect(P) || P <- processes()], timer:sleep(1).

load(B) -> code:load_binary(m_storm, "m_storm.erl", B).

beam(N) ->
    Forms = [begin {ok, Ts, _} = erl_scan:string(L), {ok, F} = erl_parse:parse_form(Ts), F end || L <- source(N)],
    {ok, m_storm, B} = compile:forms(Forms, []),
    B.

source(N) ->
    V = integer_to_list(N),
    ["-module(m_storm).", "-export([version/0, work/2, next/1, call/1]).",
     "version() -> ok.",
     "literal() -> {literal, [" ++ V ++ ", {a, \"text\", #{k => v}}]}.",
     "work(busy, _) -> busy(rand:uniform(20000)), ok;"
     "work(waits, _) -> receive never -> ok after rand:uniform(10) -> literal() end;"
     "work(local, _) -> local(rand:uniform(500));"
     "work(funs, _) -> F = fun(X) -> {X, literal()} end, P = self(),"
     "  Qs = [spawn_monitor(fun() -> G = receive H -> H after 20000 -> exit(no_fun) end, P ! (catch G(I)), [catch G(J) || J <- lists:seq(1, 50)] end) || I <- [1, 2, 3]],"
     "  [Q ! F || {Q, _} <- Qs], [receive {'DOWN', M, _, _, R} when R =/= no_fun -> R end || {_, M} <- Qs], flush(), {[catch F(I) || I <- [1, 2, 3]], ok};"
     "work(hibernates, _) -> erlang:send_after(rand:uniform(10), self(), wake), erlang:hibernate(m_storm, next, [x]);"
     "work(calls, _) -> [m_storm:call(I) || I <- [1, 2, 3, 4]];"
     "work(suspends, _) -> {P, M} = spawn_monitor(fun() -> busy(100000), local(10), ok end),"
     "  catch erlang:suspend_process(P), timer:sleep(1), catch erlang:resume_process(P), receive {'DOWN', M, _, _, R} -> {R, literal()} end;"
     "work(garbage, _) -> L = [literal() || _ <- lists:seq(1, rand:uniform(200))], erlang:garbage_collect(), {length(L), L};"
     "work(own_soft, B) -> case code:soft_purge(m_storm) of true -> {code:load_binary(m_storm, \"m\", B), ok}; false -> {erlang:check_process_code(self(), m_storm), ok} end;"
     "work(own_load, B) -> {code:load_binary(m_storm, \"m\", B), literal()};"
     "work(own_purge, _) -> timer:sleep(rand:uniform(5)), {code:purge(m_storm), literal()};"
     "work(own_delete, _) -> timer:sleep(rand:uniform(5)), {catch code:delete(m_storm), literal()};"
     "work(blocks, _) -> {file:list_dir(\"/\"), os:getenv(\"X\"), file:read_file(\"/dev/zero_not\"), literal()};"
     "work(dies, _) -> try busy(1000), exit(literal()) catch exit:R:S -> {R, S} end.",
     "busy(0) -> ok; busy(N) -> busy(N - 1).",
     "local(0) -> erlang:yield(), timer:sleep(1), [literal()]; local(N) -> [N | local(N - 1)].",
     "flush() -> receive _ -> flush() after 0 -> ok end.",
     "next(_) -> receive wake -> literal() end.",
     "call(I) -> {I, " ++ V ++ ", fun() -> literal() end}."].
