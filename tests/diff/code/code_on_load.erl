%% -on_load: run before the module is there, its failure keeps the old one.
-module(code_on_load).
-export([main/0]).
main() ->
    t:p(load("a", "ok")), t:p({m_ol:f(), persistent_term:get(m_ol)}),
    t:p(load("b", "false")), t:p({m_ol:f(), persistent_term:get(m_ol)}),
    t:p(load("c", "error(oops)")), t:p(m_ol:f()),
    t:p(load("d", "ok")), t:p(m_ol:f()), t:p(erlang:check_old_code(m_ol)),
    t:p(load("e", "begin f() =:= e, ok end")), t:p(m_ol:f()),
    t:p([X || X = {on_load, _} <- m_ol:module_info(attributes)]),
    t:p(code:purge(m_ol)), t:p(code:delete(m_ol)), t:p(load("f", "{error, no}")), t:p(code:is_loaded(m_ol)), t:p(t:c(fun() -> m_ol:f() end)).

load(V, Result) ->
    Src = ["-module(m_ol).", "-export([f/0]).", "-on_load(start/0).", "f() -> " ++ V ++ ".",
           "start() -> persistent_term:put(m_ol, " ++ V ++ "), " ++ Result ++ "."],
    Forms = [begin {ok, Ts, _} = erl_scan:string(L), {ok, Form} = erl_parse:parse_form(Ts), Form end || L <- Src],
    {ok, m_ol, Beam} = compile:forms(Forms, []),
    code:purge(m_ol),
    code:load_binary(m_ol, "m_ol.erl", Beam).
