%% Two versions of a module: old code goes on, fully qualified calls reach the new,
%% a third load needs a purge, purge kills who stayed behind.
-module(code_two_versions).
-export([main/0]).
main() ->
    process_flag(trap_exit, true),
    load(1), t:p(m_ver:version()),
    Stay = spawn_link(m_ver, stay, []), Move = spawn_link(m_ver, move, []), F = m_ver:make(), G = fun m_ver:version/0,
    load(2), t:p(m_ver:version()),
    t:p({ask(Stay), ask(Move), F(), G(), (m_ver:make())()}),
    t:p({ask(Stay), ask(Move)}),
    t:p({erlang:check_process_code(Stay, m_ver), erlang:check_process_code(Move, m_ver), erlang:check_old_code(m_ver)}),
    t:p(code:soft_purge(m_ver)),
    t:p(catch erlang:load_module(m_ver, beam(3))),
    t:p(code:purge(m_ver)), t:p(receive {'EXIT', Stay, R} -> R after 1000 -> none end),
    t:p(is_process_alive(Move)), t:p(erlang:check_old_code(m_ver)),
    load(3), t:p({m_ver:version(), ask(Move), ask(Move), G()}),
    t:p(t:c(fun() -> F() end)),
    t:p(code:delete(m_ver)), t:p(t:c(fun() -> m_ver:version() end)), t:p(erlang:function_exported(m_ver, version, 0)),
    t:p(ask(Move)),
    t:p(receive {'EXIT', Move, {W, [{M, Fun, A, _} | _]}} -> {W, M, Fun, A} after 1000 -> none end),
    t:p(code:purge(m_ver)), t:p(erlang:module_loaded(m_ver)), t:p(code:is_loaded(m_ver)),
    load(4), t:p(m_ver:version()),
    t:p(code:delete(m_ver)), t:p(code:delete(m_ver)), t:p(code:purge(m_ver)), t:p(code:purge(m_ver)).

ask(Pid) -> Pid ! {self(), version}, receive {Pid, V} -> V after 500 -> timeout end.

load(N) -> {module, m_ver} = code:load_binary(m_ver, "m_ver.erl", beam(N)).

beam(N) ->
    Src = ["-module(m_ver).", "-export([version/0, stay/0, move/0, make/0]).",
           "version() -> " ++ integer_to_list(N) ++ ".",
           "make() -> X = version(), fun() -> {X, version(), ?MODULE:version()} end.",
           "stay() -> receive {P, version} -> P ! {self(), version()}, stay() end.",
           "move() -> receive {P, version} -> P ! {self(), version()}, m_ver:move() end."],
    Forms = [begin {ok, Ts, _} = erl_scan:string(re:replace(L, "\\?MODULE", "m_ver", [global, {return, list}])), {ok, Form} = erl_parse:parse_form(Ts), Form end || L <- Src],
    {ok, m_ver, Beam} = compile:forms(Forms, []),
    Beam.
