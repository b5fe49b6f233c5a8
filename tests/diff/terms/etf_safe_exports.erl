%% What binary_to_term(B, [safe]) takes for a known external fun: what loaded modules export, import or hold in
%% literals. What was only decoded, made by make_fun or (since OTP 27) applied counts from the next change of code
%% on.
-module(etf_safe_exports).
-export([main/0, call_import/0, literal/0]).

main() ->
    t:p({exported, [safe(lists, map, 2), safe(?MODULE, main, 0), safe(lists, module_info, 0)]}),
    t:p({bifs, [safe(erlang, abs, 1), safe(ets, insert, 2), safe(erts_internal, flush_monitor_messages, 3)]}),
    t:p({missing, [safe(lists, no_such_function, 0), safe(no_such_module, no_such_function, 0), safe(?MODULE, safe, 3),
                   safe(erl_tar, no_such_function, 2)]}),
    t:p({not_loaded, safe(no_such_module, main, 0)}),
    t:p({imported, safe(no_such_module, imported, 2)}),
    t:p({literal, safe(no_such_module, literal, 3)}),
    t:p({make_fun, before_and_after(fun() -> make_fun(made, 1) end, made, 1)}),
    t:p({unsafe, before_and_after(fun() -> decode(no_such_module, decoded, 1, []) end, decoded, 1)}),
    t:p({used, before_and_after(fun() -> decode(no_such_module, decoded_used, 1, [used]) end, decoded_used, 1)}),
    t:p({called, before_and_after(fun() -> catch (make_fun(called, 0))() end, called, 0)}),
    t:p({exported_question, before_and_after(
                              fun() -> erlang:function_exported(no_such_module, asked, 1) end, asked, 1)}),
    t:p({trace_pattern, before_and_after(
                          fun() -> erlang:trace_pattern({no_such_module, traced, 1}, true, []) end, traced, 1)}),
    t:p({damaged, before_and_after(
                    fun() -> t:c(fun() -> binary_to_term(<<131, 104, 2, (fun_of(no_such_module, damaged, 1))/binary,
                                                           119, 1, 255>>) end) end, damaged, 1)}),
    %% A failed attempt to load is no change of code.
    make(not_purged),
    t:p({not_purged, [safe(no_such_module, not_purged, 0), not_purged(), safe(no_such_module, not_purged, 0)]}),
    code:purge(g),
    t:p({purged, safe(no_such_module, not_purged, 0)}),
    reload(),
    t:p({loaded, safe(no_such_module, not_purged, 0)}),
    make(deleted),
    t:p({deleted, [safe(no_such_module, deleted, 0), code:delete(g), safe(no_such_module, deleted, 0)]}),
    make(deleted_again),
    t:p({deleted_nothing, [t:c(fun() -> erlang:delete_module(no_such_module) end), safe(no_such_module, deleted_again, 0)]}),
    reload(),
    prepared(),
    [t:p({How, before_and_after(fun() -> apply_in(How, no_such_module, How) end, How, 1)})
     || How <- [apply_fixed, apply_list, spawned, hibernated]],
    other_terms().

%% With constants, make_fun/3 is a literal to the compiler.
make_fun(F, A) -> erlang:make_fun(t:id(no_such_module), F, A).

make(F) -> make_fun(F, 0).

before_and_after(Act, F, A) ->
    Before = safe(no_such_module, F, A),
    Act(),
    Then = safe(no_such_module, F, A),
    reload(),
    {Before, Then, safe(no_such_module, F, A)}.

reload() ->
    code:purge(g),
    {module, g} = code:load_file(g),
    code:purge(g).

not_purged() ->
    {g, Beam, _} = code:get_object_code(g),
    {module, g} = code:load_file(g),
    make(not_purged_too),
    {erlang:load_module(g, Beam), safe(no_such_module, not_purged_too, 0)}.

%% Imports count once a module is loaded, exports even when it is no longer there.
prepared() ->
    Form = fun(L, T) -> setelement(2, T, erl_anno:new(L)) end,
    {ok, M, Beam} = compile:forms(
        [{attribute, 1, module, etf_safe_other}, {attribute, 1, export, [{f, 0}]},
         Form(1, {function, 1, f, 0, [{clause, 1, [], [], [{call, 1, {remote, 1, {atom, 1, no_such_module},
                                                                      {atom, 1, import_of_other}}, []}]}]})]),
    Prepared = erlang:prepare_loading(M, Beam),
    All = fun() -> [safe(no_such_module, import_of_other, 0), safe(M, f, 0), safe(M, module_info, 1)] end,
    reload(),
    t:p({prepared, All()}),
    ok = erlang:finish_loading([Prepared]),
    t:p({finished, All()}),
    code:delete(M),
    code:purge(M),
    t:p({purged, All()}).

other_terms() ->
    Pid = term_to_binary(self()),
    <<131, 88, Node, Size, _:Size/binary, Numbers/binary>> = case Pid of
        <<131, 88, 119, _/binary>> -> Pid;
        <<131, 88, 100, N:16, Name:N/binary, Rest/binary>> -> <<131, 88, 119, N, Name/binary, Rest/binary>>
    end,
    Of = fun(Name) -> <<88, Node, (byte_size(Name)), Name/binary, Numbers/binary>> end,
    Fun = fun(Name) ->
        Inner = <<1, 7:128, 3:32, 0:32, 119, (byte_size(Name)), Name/binary, 97, 3, 97, 9,
                  (binary:part(Pid, 1, byte_size(Pid) - 1))/binary>>,
        <<112, (byte_size(Inner) + 4):32, Inner/binary>>
    end,
    Known = <<"no_such_module">>,
    %% Each name is new when it is first decoded.
    [begin
         New = <<"etf_safe_", (integer_to_binary(I))/binary>>,
         Results = [outcome(<<131, (Make(Name))/binary>>, Options)
                    || {Name, Options} <- [{Known, [safe]}, {New, [safe]}, {New, [safe, used]}, {New, []}, {New, [safe]}]],
         t:p({What, Results})
     end || {I, What, Make} <- [
        {1, atom, fun(Name) -> <<119, (byte_size(Name)), Name/binary>> end},
        {2, latin1, fun(Name) -> <<100, (byte_size(Name)):16, Name/binary>> end},
        {3, pid, Of},
        {4, local_fun, Fun},
        {5, export_of_module, fun(Name) -> <<113, 119, (byte_size(Name)), Name/binary, 119, 3, "map", 97, 2>> end},
        {6, map, fun(Name) -> <<116, 1:32, 119, (byte_size(Name)), Name/binary, 106>> end}]].

outcome(B, Options) ->
    try binary_to_term(B, Options) of _ -> ok catch error:badarg -> badarg end.

safe(M, F, A) ->
    try decode(M, F, A, [safe]) of
        Fun when is_function(Fun, A) ->
            {Fun, _} = decode(M, F, A, [safe, used]),
            known
    catch error:badarg -> unknown
    end.

decode(M, F, A, Options) -> binary_to_term(<<131, (fun_of(M, F, A))/binary>>, Options).

fun_of(M, F, A) -> <<113, (atom(M))/binary, (atom(F))/binary, 97, A>>.

atom(A) ->
    Name = atom_to_binary(A),
    <<119, (byte_size(Name)), Name/binary>>.

call_import() -> no_such_module:imported(1, 2).

literal() -> fun no_such_module:literal/3.

apply_in(apply_fixed, M, F) -> catch M:F(1);
apply_in(apply_list, M, F) -> catch apply(M, F, t:id([1]));
apply_in(spawned, M, F) ->
    {P, Ref} = spawn_monitor(M, F, [1]),
    receive {'DOWN', Ref, process, P, _} -> ok end;
apply_in(hibernated, M, F) ->
    {P, Ref} = spawn_monitor(fun() -> erlang:hibernate(M, F, [1]) end),
    P ! go,
    receive {'DOWN', Ref, process, P, _} -> ok end.
