%% Builds a public project and runs its tests, EUnit's and Common Test's, on the machine this runs on:
%%
%%     erl -noshell -run project_tests build NAME       NAME/ebin from NAME/src and NAME/test; needs are in the path
%%     erl -noshell -run project_tests eunit NAME FILE  a line in FILE for each test: module | test | result
%%     erl -noshell -run project_tests ct NAME FILE SUITE
%%
%% Options of the compiler are those of NAME/rebar.config.
-module(project_tests).
-behaviour(eunit_listener).
-export([build/1, eunit/1, ct/1]).
-export([start/0, start/1, init/1, handle_begin/3, handle_end/3, handle_cancel/3, terminate/2]).
-export([id/1, init/2, post_end_per_testcase/5, on_tc_fail/4, on_tc_skip/4]).

%% Building

build([Name]) ->
    Out = filename:join(Name, "ebin"),
    ok = filelib:ensure_path(Out),
    true = code:add_patha(filename:absname(Out)),
    [generate(F) || F <- files(Name, "*.{xrl,yrl,peg}")],
    Options = options(Name),
    Left = compile_all(files(Name, "*.erl"), [{outdir, Out} | Options]),
    [io:format("not compiled: ~ts~n~tp~n", [F, Why]) || {F, Why} <- Left],
    [compile_lfe(F, Name, Out) || F <- files(Name, "*.lfe")],
    write_app(Name, Out),
    halt(length([F || {F, _} <- Left, filename:basename(filename:dirname(F)) =:= "src"])).

files(Name, Pattern) ->
    lists:usort(filelib:wildcard(filename:join([Name, "{src,test,ct}", Pattern])) ++
                filelib:wildcard(filename:join([Name, "src/**", Pattern]))).

generate(File) ->
    {ok, _} = case filename:extension(File) of
        ".yrl" -> yecc:file(File);
        ".xrl" -> leex:file(File);
        ".peg" -> {neotoma:file(File), File}
    end.

%% Parse transforms and what they use come first: what fails is tried again as long as that helps.
compile_all(Files, Options) ->
    Tried = [{F, compile:file(F, Options)} || F <- Files],
    Left = [{F, {Errors, []}} || {F, {error, Errors, _}} <- Tried],
    case length(Left) of
        0 -> [];
        N when N =:= length(Files) -> Left;
        _ -> compile_all([F || {F, _} <- Left], Options)
    end.

%% Files in LFE, by the compiler that was just built, or is in the path. Some of its own tests need what is not there.
compile_lfe(File, Name, Out) ->
    Includes = [{i, filename:join(Name, D)} || D <- ["include", "test"]],
    case lfe_comp:file(File, [return, {outdir, Out} | Includes]) of
        {ok, _, _} -> ok;
        Why -> io:format("not compiled: ~ts~n~tP~n", [File, Why, 30])
    end.

options(Name) ->
    Config = case file:consult(filename:join(Name, "rebar.config")) of {ok, C} -> C; _ -> [] end,
    Mine = lists:flatmap(fun(O) -> option(Name, O) end, proplists:get_value(erl_opts, Config, [])),
    [debug_info, return_errors, {d, 'TEST'}, {d, 'EUNIT'}, {i, Name}] ++
        [{i, filename:join(Name, D)} || D <- ["include", "src", "test"]] ++ Mine.

option(_, {d, _} = D) -> [D];
option(_, {d, _, _} = D) -> [D];
option(_, {parse_transform, _} = T) -> [T];
option(Name, {i, D}) -> [{i, filename:join(Name, D)}];
option(_, {platform_define, Pattern, D}) ->
    System = erlang:system_info(otp_release) ++ "-" ++ erlang:system_info(system_architecture),
    case re:run(System, Pattern, [{capture, none}]) of match -> [{d, D}]; nomatch -> [] end;
option(_, _) -> [].

%% As with rebar3 the application's modules are those of src, and not its tests.
write_app(Name, Out) ->
    case file:consult(filename:join([Name, "src", Name ++ ".app.src"])) of
        {ok, [{application, App, Keys}]} ->
            Ms = [list_to_atom(filename:basename(F, ".erl")) || F <- filelib:wildcard(filename:join(Name, "src/**/*.erl"))],
            Vsn = case proplists:get_value(vsn, Keys) of V when is_list(V) -> V; _ -> "1" end,
            All = lists:keystore(vsn, 1, lists:keystore(modules, 1, Keys, {modules, Ms}), {vsn, Vsn}),
            ok = file:write_file(filename:join(Out, Name ++ ".app"), io_lib:format("~tp.~n", [{application, App, All}]));
        _ -> ok
    end.

%% EUnit

eunit([Name, File]) ->
    put_file(File),
    Out = filename:join(Name, "ebin"),
    true = code:add_patha(filename:absname(Out)),
    Ms = [list_to_atom(filename:rootname(F)) || F <- lists:sort(filelib:wildcard("*.beam", Out))],
    ok = file:set_cwd(Name),
    [eunit:test(M, [no_tty, {scale_timeouts, 10}, {report, {?MODULE, []}}]) || M <- Ms, has_tests(M, Ms)],
    halt().

%% EUnit itself runs M_tests with M.
has_tests(M, Ms) ->
    exports_test(M) andalso
        case lists:reverse(atom_to_list(M)) of
            "stset_" ++ Of ->
                Tested = list_to_atom(lists:reverse(Of)),
                not (lists:member(Tested, Ms) andalso exports_test(Tested));
            _ -> true
        end.

exports_test(M) -> {module, M} =:= code:ensure_loaded(M) andalso erlang:function_exported(M, test, 0).

start() -> start([]).
start(Options) -> eunit_listener:start(?MODULE, Options).
init(_) -> receive {start, _} -> none end.
handle_begin(_, _, State) -> State.
handle_end(test, Data, State) ->
    note_eunit(Data, case proplists:get_value(status, Data) of ok -> passed; {skipped, _} -> skipped; {error, _} -> failed end),
    State;
handle_end(group, _, State) -> State.
handle_cancel(Kind, Data, State) -> note_eunit(Data, {Kind, cancelled}), State.
terminate(_, _) -> ok.

note_eunit(Data, Result) ->
    {M, F, _} = case proplists:get_value(source, Data) of undefined -> {group, proplists:get_value(id, Data), 0}; S -> S end,
    Text = case proplists:get_value(desc, Data) of undefined -> ""; T -> T end,
    note("~tw | ~tw:~w ~ts | ~tw", [M, F, proplists:get_value(line, Data, 0), Text, Result]).

%% Common Test: this is its hook

ct([Name, File, Suite]) ->
    put_file(File),
    Out = filename:absname(filename:join(Name, "ebin")),
    true = code:add_patha(Out),
    [ok = copy_data(filename:join(Name, D), Out, Suite) || D <- ["test", "ct"]],
    Logs = filename:absname(Name ++ ".logs"),
    ok = filelib:ensure_path(Logs),
    ct:run_test([{dir, Out}, {suite, list_to_atom(Suite)}, {logdir, Logs}, {auto_compile, false}, {ct_hooks, [?MODULE]}]),
    halt().

copy_data(From, To, Suite) ->
    Data = Suite ++ "_data",
    case filelib:is_dir(filename:join(From, Data)) of
        true -> os:cmd("cp -r '" ++ filename:join(From, Data) ++ "' '" ++ To ++ "'"), ok;
        false -> ok
    end.

%% Groups may run side by side, so what is told of a case is its own groups, which its configuration has, or its name.
id(_) -> ?MODULE.
init(_, _) -> {ok, []}.
post_end_per_testcase(Suite, Case, Config, Return, State) ->
    Inner = [P || {tc_group_properties, P} <- Config],
    Groups = lists:reverse(Inner ++ proplists:get_value(tc_group_path, Config, [])),
    note_ct(Suite, Case, [Name || P <- Groups, {name, Name} <- P], case Return of ok -> passed; _ -> returned end),
    {Return, State}.
on_tc_fail(Suite, Case, _, State) -> note_ct(Suite, Case, failed), State.
on_tc_skip(Suite, Case, _, State) -> note_ct(Suite, Case, skipped), State.

note_ct(Suite, {Case, Group}, Result) -> note_ct(Suite, Case, [Group], Result);
note_ct(Suite, Case, Result) -> note_ct(Suite, Case, [], Result).
note_ct(Suite, Case, Groups, Result) -> note("~tw | ~tw ~0tp | ~tw", [Suite, Case, Groups, Result]).

put_file(File) -> persistent_term:put(?MODULE, filename:absname(File)).
note(Format, Arguments) ->
    Line = unicode:characters_to_binary([io_lib:format(Format, Arguments), $\n]),
    ok = file:write_file(persistent_term:get(?MODULE), Line, [append]).
