%% What is known of a module when it is deleted, purged, deleted again, or fails to come back.
-module(code_deleted).
-export([main/0]).
main() ->
    logger:set_primary_config(level, none),
    M = m_gone,
    [t:p({F, t:c(fun() -> erlang:F(M) end)}) || F <- [delete_module, purge_module, check_old_code, module_loaded]],
    t:p({bad, erlang:load_module(M, <<"no">>), erlang:delete_module(M)}),
    t:p({module, M} =:= load(M, [])), t:p(known(M)),
    t:p({deleted, erlang:delete_module(M), known(M)}),
    t:p({twice, t:c(fun() -> erlang:delete_module(M) end), known(M)}),
    t:p({code, code:delete(M)}),
    t:p({purged, erlang:purge_module(M), known(M), t:c(fun() -> erlang:purge_module(M) end)}),
    t:p({empty, erlang:delete_module(M), erlang:delete_module(M), known(M)}),
    t:p({code, code:delete(M), code:purge(M), code:soft_purge(M)}),
    t:p({never, erlang:delete_module(m_never), code:delete(m_never)}),
    [reloaded(m_held, Result) || Result <- [ok, fail, ok]].

known(M) ->
    {erlang:module_loaded(M), erlang:check_old_code(M), lists:member(M, erlang:loaded()), code:is_loaded(M) =/= false}.

load(M, Forms) ->
    {ok, M, Code} = compile:forms([{attribute, 1, module, M} | Forms], []),
    code:load_binary(M, "", Code).

parsed(Text) ->
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Form} = erl_parse:parse_form(Tokens),
    Form.

%% A process stays in a deleted version while one comes whose on_load function succeeds or fails.
reloaded(M, Result) ->
    {module, M} = load(M, [parsed("-export([f/1])."), parsed("f(P) -> P ! here, receive stop -> done end.")]),
    Self = self(),
    {Pid, Ref} = spawn_monitor(fun() -> exit(M:f(Self)) end),
    receive here -> ok end,
    t:p({code:delete(M), erlang:check_old_code(M)}),
    t:p(load(M, [parsed("-on_load(g/0)."), parsed("g() -> " ++ atom_to_list(Result) ++ ".")])),
    t:p({held, code:soft_purge(M), known(M)}),
    Pid ! stop,
    receive {'DOWN', Ref, process, Pid, Why} -> t:p(Why) end,
    t:p({free, code:soft_purge(M), known(M)}),
    t:p({code:delete(M), known(M), code:soft_purge(M), known(M)}).
