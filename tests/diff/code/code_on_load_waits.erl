%% While an -on_load function runs: who calls the module waits; the version before can be called; a
%% failure ends the processes it has made in the module, and leaves old code as it was.
-module(code_on_load_waits).
-export([main/0]).
main() ->
    register(master, self()),
    waits(), before(), fails(), deleted().

waits() ->
    Loader = start(fun() -> {load("one", ""), m_olw:f()} end),
    On = receive {running, P} -> P end,
    Callers = [start(fun() -> m_olw:f() end) || _ <- lists:seq(1, 5)],
    receive after 20 -> ok end,
    t:p({erlang:module_loaded(m_olw), [X || X <- Callers, not is_process_alive(X)]}),
    On ! ok,
    t:p([ended(X) || X <- [Loader | Callers]]).

before() ->
    Loader = start(fun() -> {load("two", ""), m_olw:f(), t:c(fun() -> m_olw:only_one() end)} end),
    On = receive {running, P} -> P end,
    t:p({m_olw:f(), m_olw:only_one(), erlang:module_loaded(m_olw), t:c(fun() -> m_olw:none() end)}),
    On ! ok,
    t:p(ended(Loader)), t:p(code:purge(m_olw)).

fails() ->
    Loader = start(fun() -> load("three", "master ! {made, spawn(fun forever/0)},") end),
    On = receive {running, P} -> P end,
    Made = receive {made, M} -> M end,
    R = monitor(process, Made),
    On ! no,
    t:p(ended(Loader)), t:p(receive {'DOWN', R, _, _, Why} -> Why after 5000 -> nothing end),
    t:p({m_olw:f(), erlang:check_old_code(m_olw)}).

deleted() ->
    t:p({code:delete(m_olw), erlang:check_old_code(m_olw), erlang:module_loaded(m_olw)}),
    Loader = start(fun() -> load("four", "") end),
    receive {running, P} -> P ! no end,
    t:p(ended(Loader)),
    t:p({erlang:check_old_code(m_olw), erlang:module_loaded(m_olw), code:purge(m_olw), erlang:check_old_code(m_olw)}).

start(F) -> {P, _} = spawn_monitor(fun() -> exit(F()) end), P.
ended(P) -> receive {'DOWN', _, _, P, Why} -> Why after 5000 -> nothing end.

load(V, More) ->
    Only = case V of "one" -> ", only_one/0"; _ -> "" end,
    Src = ["-module(m_olw).", "-export([f/0" ++ Only ++ "]).", "-on_load(start/0).", "f() -> " ++ V ++ ".",
           "start() -> " ++ More ++ "master ! {running, self()}, receive X -> X end.",
           "forever() -> receive never -> ok end, forever()."]
        ++ ["only_one() -> 1." || V =:= "one"],
    Forms = [begin {ok, Ts, _} = erl_scan:string(L), {ok, Form} = erl_parse:parse_form(Ts), Form end || L <- Src],
    {ok, m_olw, Beam} = compile:forms(Forms, []),
    code:load_binary(m_olw, "m_olw.erl", Beam).
