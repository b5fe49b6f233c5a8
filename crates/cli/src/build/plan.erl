%% Finds out what belongs into the executable that `kvik build` makes, as OTP's own modules see it:
%% what a program calls, which applications that needs, in which order they start.
%%
%%     plan:main([Target, Work, Mode, Erts, Preloaded, Programs])
%%
%% Work is an empty directory. Writes Work/files, whose lines are a path in the tree and that of its
%% contents, with a tab between, and a file Work/notes/NAME for each note (see built.rs), whose words
%% end in NUL. What is wrong with the target goes to standard error, with status 1.
-module(plan).
-export([main/1]).

-include_lib("kernel/include/file.hrl").

-define(NEEDED, [kernel, stdlib]).
%% Where kvik_main is, the module that calls programs and running nodes.
-define(STUB_DIR, "{root}/lib/kvik_main").

main([Target | Rest]) ->
    try
        plan(kind(Target), Target, Rest),
        halt(0)
    catch
        throw:{bad, Format, Args} ->
            io:format(standard_error, "kvik build: " ++ Format ++ "~n", Args),
            halt(1);
        _:Reason:Stack ->
            {_, F, _, At} = hd(Stack),
            io:format(standard_error, "kvik build: ~ts: not understood (~ts, line ~w: ~0P)~n",
                      [Target, F, proplists:get_value(line, At), Reason, 12]),
            halt(1)
    end.

bad(Format, Args) -> throw({bad, Format, Args}).

kind(Target) ->
    case filelib:is_dir(Target) of
        true -> kind_of_directory(Target);
        false ->
            filelib:is_regular(Target) orelse bad("~ts: there is no such file or directory", [Target]),
            case filename:extension(Target) of
                ".erl" -> module;
                _ -> escript
            end
    end.

kind_of_directory(Dir) ->
    Has = fun(Pattern) -> filelib:wildcard(Pattern, Dir) =/= [] end,
    Is = [K || {K, P} <- [{release, "releases/start_erl.data"}, {application, "ebin/*.app"},
                          {mix, "mix.exs"}, {rebar3, "rebar.config"}, {sources, "src/*.app.src"}], Has(P)],
    case Is of
        [K | _] when K =:= release; K =:= application -> K;
        [mix | _] -> bad("~ts: a project, not what was made from it: build _build/prod/rel/NAME, which "
                         "`MIX_ENV=prod mix release` makes", [Dir]);
        [rebar3 | _] -> bad("~ts: a project, not what was made from it: build _build/default/rel/NAME "
                            "(`rebar3 release`) or _build/default/lib/NAME (`rebar3 compile`)", [Dir]);
        [sources | _] -> bad("~ts: ebin/ has no .app file: compile the application first", [Dir]);
        [] -> bad("~ts: neither a release (releases/start_erl.data) nor an application (ebin/*.app)", [Dir])
    end.

%% ---- A program with main/1

plan(module, File, Rest) ->
    case compile:file(File, [binary, report, debug_info, deterministic]) of
        {ok, Module, Code} ->
            Beam = atom_to_list(Module) ++ ".beam",
            script(File, Module, [{filename:join([Module, "ebin", Beam]), Code}], [], [], Rest);
        _ -> bad("~ts: it does not compile", [File])
    end;
plan(escript, File, Rest) ->
    is_script(File) orelse bad("~ts: neither Erlang source, an escript nor a directory", [File]),
    case extracted(File) of
        {ok, [_Shebang, _Comment, {emu_args, Emu}, {Kind, Body}]} ->
            Flags = case Emu of undefined -> []; _ -> string:lexemes(Emu, " \t") end,
            {Before, Main} = main_module(Flags, list_to_atom(filename:basename(File, ".escript"))),
            {Module, Files} = unpacked(Kind, Body, Main, File),
            %% Programs with an archive take files out of it, by escript:script_name/0.
            Itself = [{"root/bin/" ++ filename:basename(File), File} || Kind =:= archive],
            script(File, Module, Files, Itself, Before, Rest);
        _ -> bad("~ts: escript cannot take it apart", [File])
    end;

%% ---- An application, with those that it needs

plan(application, Dir0, [Work, _, Erts | _] = Rest) ->
    Dir = filename:absname(Dir0),
    [File | More] = filelib:wildcard("ebin/*.app", Dir),
    More =:= [] orelse bad("~ts: more than one application: ~ts", [Dir0, lists:join(" ", [File | More])]),
    Name = list_to_atom(filename:basename(File, ".app")),
    %% Those beside it, as in _build/default/lib.
    Beside = [D || D <- filelib:wildcard(filename:join([filename:dirname(Dir), "*", "ebin"])),
                   filelib:wildcard("*.app", D) =/= []],
    ok = code:add_pathsz(Beside),
    true = code:add_patha(filename:join(Dir, "ebin")),
    Started = closure([Name | ?NEEDED]),
    %% Those that the code calls or names are there, and not started.
    Beams = [F || A <- Started, not is_otp(A), {_, F} <- files_of(A), filename:extension(F) =:= ".beam"],
    [whole(F) || F <- Beams],
    Listed = [lists:concat([M, ".beam"]) || M <- proplists:get_value(modules, properties(Name), [])],
    [io:format(standard_error, "kvik build: ~ts: warning: it lists a module that is not there: ~ts~n", [File, M])
     || M <- Listed, not filelib:is_regular(filename:join([Dir, "ebin", M]))],
    Apps = Started ++ (closure(Started ++ called(Beams)) -- Started),
    Release = {release, {atom_to_list(Name), vsn(Name)}, {erts, Erts},
               [{A, vsn(A)} || A <- Started] ++ [{A, vsn(A), load} || A <- Apps -- Started]},
    Rel = filename:join(Work, "start"),
    ok = file:write_file(Rel ++ ".rel", io_lib:format("~p.~n", [Release])),
    make_boot(Rel, Apps, Work, Dir0),
    Config = tree(filename:join(Dir, "config"), "root/config"),
    Has = fun(C) -> lists:keymember("root/config/" ++ C, 1, Config) end,
    Files = lists:append([files_of(A) || A <- Apps]) ++ Config ++ [{"root/bin/start.boot", Rel ++ ".boot"}],
    Args = ["-noshell", "-noinput", "-boot", "{root}/bin/start"]
        ++ lists:append([["-config", "{root}/config/sys"] || Has("sys.config")])
        ++ lists:append([["-args_file", "{root}/config/vm.args"] || Has("vm.args")]),
    finish(Files, [{"kind", ["application"]}, {"name", [atom_to_list(Name)]}, {"args", Args}], Rest);

%% ---- A release

plan(release, Dir0, [Work, _, Erts | _] = Rest) ->
    Dir = filename:absname(Dir0),
    {ok, Data} = file:read_file(filename:join(Dir, "releases/start_erl.data")),
    [Its, Vsn] = case string:lexemes(binary_to_list(Data), " \n\t\r") of
        [E, V | _] -> [E, V];
        _ -> bad("~ts/releases/start_erl.data: no version", [Dir0])
    end,
    Its =:= Erts orelse bad("~ts: made for erts ~ts, but the OTP found has ~ts: name its OTP by --otp "
                            "or --root", [Dir0, Its, Erts]),
    VsnDir = filename:join([Dir, "releases", Vsn]),
    {Name, Apps} = release_contents(Dir0, VsnDir),
    Own = tree(Dir, "root", fun(Path) -> own_scripts(Path, Name, Vsn) end),
    Missing = [{A, V} || {A, V} <- Apps, not lists:keymember(
        lists:concat(["root/lib/", A, "-", V, "/ebin/", A, ".app"]), 1, Own)],
    OfOtp = lists:append([files_as(A, V, Dir0) || {A, V} <- Missing]),
    {Commands, Stub} = case filelib:is_regular(filename:join(VsnDir, "elixir")) of
        true -> {mix_commands(Dir, Name, Vsn, Work), []};
        false -> {relx_commands(VsnDir, Name, Vsn), stub(Work)}
    end,
    Sh = case file:read_file(filename:join(VsnDir, "env.sh")) of
        {ok, Text} -> case re:run(Text, "^\\s*[^#\\s]", [multiline, {capture, none}]) of
                          match -> [{"env.sh", [Text]}];
                          nomatch -> []
                      end;
        _ -> []
    end,
    Notes = [{"kind", ["release"]}, {"name", [Name]}, {"version", [Vsn]} | Sh],
    finish(Own ++ Stub ++ OfOtp, Notes ++ Commands, Rest).

%% Two applications may declare the same registered name: only systools objects. It sees the second without its
%% names, which the script then gets back.
make_boot(Rel, Apps, Work, Shown) ->
    Props = [{A, properties(A)} || A <- Apps],
    Names = fun(Ps) -> proplists:get_value(registered, Ps, []) end,
    {Clashing, _} = lists:foldl(fun({A, Ps}, {Clash, Seen}) ->
        case [N || N <- Names(Ps), lists:member(N, Seen)] of
            [] -> {Clash, Names(Ps) ++ Seen};
            _ -> {[{A, Ps} | Clash], Seen}
        end
    end, {[], []}, Props),
    Copies = [begin
        Ebin = filename:join([Work, "nameless", A, "ebin"]),
        File = filename:join(Ebin, lists:concat([A, ".app"])),
        ok = filelib:ensure_dir(File),
        Nameless = {application, A, lists:keyreplace(registered, 1, Ps, {registered, []})},
        ok = file:write_file(File, unicode:characters_to_binary(io_lib:format("%% coding: utf-8~n~tp.~n", [Nameless]))),
        Ebin
    end || {A, Ps} <- Clashing],
    case systools:make_script(Rel, [silent, no_warn_sasl, {outdir, Work}, {path, Copies ++ code:get_path()}]) of
        {ok, _, _} -> ok;
        {error, M, Why} -> bad("~ts: ~ts", [Shown, string:trim(M:format_error(Why))])
    end,
    {ok, [{script, Id, Commands}]} = file:consult(Rel ++ ".script"),
    Renamed = [case C of
        {apply, {application, load, [{application, A, Ps}]}} ->
            Own = Names(proplists:get_value(A, Clashing, [{registered, Names(Ps)}])),
            {apply, {application, load, [{application, A, lists:keyreplace(registered, 1, Ps, {registered, Own})}]}};
        _ -> C
    end || C <- Commands],
    ok = file:write_file(Rel ++ ".boot", term_to_binary({script, Id, Renamed})).

%% What a release has to start itself, and what it leaves behind when it runs.
own_scripts("root/erts-" ++ _, _, _) -> true;
own_scripts("root/log", _, _) -> true;
own_scripts("root/tmp", _, _) -> true;
own_scripts(Path, Name, Vsn) ->
    Scripts = ["bin/" ++ Name, "bin/" ++ Name ++ ".bat", "bin/" ++ Name ++ "-" ++ Vsn]
        ++ ["releases/" ++ Vsn ++ "/" ++ F || F <- ["env.bat", "elixir", "iex"]],
    lists:member(Path, ["root/" ++ F || F <- Scripts]).

release_contents(Shown, VsnDir) ->
    case filelib:wildcard("*.rel", VsnDir) of
        [] -> bad("~ts: ~ts has no .rel file", [Shown, VsnDir]);
        [Rel | _] ->
            case file:consult(filename:join(VsnDir, Rel)) of
                {ok, [{release, {Name, _}, _, Apps}]} -> {Name, [{element(1, A), element(2, A)} || A <- Apps]};
                _ -> bad("~ts: ~ts is no release file", [Shown, Rel])
            end
    end.

%% An application that the release expects OTP to have.
files_as(App, Vsn, Shown) ->
    case code:lib_dir(App) of
        {error, _} -> bad("~ts: lib has no ~ts-~ts, nor has OTP", [Shown, App, Vsn]);
        Dir ->
            vsn(App) =:= Vsn orelse bad("~ts: lib has no ~ts-~ts; OTP has ~ts", [Shown, App, Vsn, vsn(App)]),
            app_tree(Dir, lists:concat(["root/lib/", App, "-", Vsn]))
    end.

%% What mix's own start script would execute for each of its commands: in a release that has the scripts
%% alone, so that what this release and this machine set is not yet known.
mix_commands(Dir, Name, Vsn, Work) ->
    Model = filename:join(Work, "model"),
    Place = filename:join([Model, "releases", Vsn]),
    Copy = fun(F) ->
        To = filename:join(Model, F),
        ok = filelib:ensure_dir(To),
        case file:copy(filename:join(Dir, F), To) of
            {ok, _} -> ok;
            {error, Why} -> bad("~ts: ~ts: ~ts", [Dir, F, file:format_error(Why)])
        end
    end,
    [Copy(F) || F <- ["bin/" ++ Name | [filename:join(["releases", Vsn, F]) || F <- ["elixir", "iex"]]]],
    [ok = file:change_mode(filename:join(Place, F), 8#755) || F <- ["elixir", "iex"]],
    [ok = file:write_file(filename:join(Place, F), "") || F <- ["env.sh", "sys.config", "vm.args", "remote.vm.args"]],
    Env = [{"ELIXIR_CLI_DRY_RUN", "1"}, {"RELEASE_COOKIE", "{cookie}"}, {"RELEASE_NODE", "{node}"},
           {"RELEASE_VM_ARGS", "{vm_args}"}, {"RELEASE_REMOTE_VM_ARGS", "{remote_vm_args}"},
           {"RELEASE_DISTRIBUTION", "sname"}, {"RELEASE_MODE", "{mode}"}, {"RELEASE_VSN", Vsn},
           {"RELEASE_NAME", Name}, {"ELIXIR_ERL_OPTIONS", false}, {"RELEASE_SYS_CONFIG", false},
           {"RELEASE_BOOT_SCRIPT", false}, {"RELEASE_BOOT_SCRIPT_CLEAN", false}, {"RELEASE_TMP", false}],
    Script = filename:join([Model, "bin", Name]),
    [{"style", ["mix"]} | reboots(filename:join([Dir, "releases", Vsn, "sys.config"]))] ++
    [{"command." ++ C, dry_run(Script, [C | ["{expression}" || lists:member(C, ["eval", "rpc"])]], Env, Model)}
     || C <- ["start", "start_iex", "eval", "rpc", "remote", "restart", "stop", "pid"]].

%% Whether the system starts twice, the second time with a configuration that the first has written.
reboots(File) ->
    case file:read_file(File) of
        {ok, Text} ->
            Reboots = re:run(Text, "reboot_system_after_config\\s*=>\\s*true", [{capture, none}]),
            [{"writes_config", ["true"]} || Reboots =:= match];
        _ -> []
    end.

dry_run(Script, Args, Env, Model) ->
    P = open_port({spawn_executable, "/bin/sh"},
                  [{args, [Script | Args]}, {env, Env}, exit_status, binary, in, hide]),
    Out = output(P, []),
    %% Its own location, resolved or not, stands for the tree.
    {ok, Cwd} = file:get_cwd(),
    ok = file:set_cwd(Model), {ok, Real} = file:get_cwd(), ok = file:set_cwd(Cwd),
    Placed = lists:foldl(fun(D, T) -> string:replace(T, D, "{root}", all) end, Out, [Real, Model]),
    [_Erl | Words] = string:lexemes(unicode:characters_to_list(Placed), " \n"),
    one_expression([word(W) || W <- Words]).

%% The script prints words without quotes; of these one may have blanks.
one_expression(Words) ->
    case lists:splitwith(fun(W) -> W =/= "--rpc-eval" end, Words) of
        {Before, ["--rpc-eval", Node | Expression]} ->
            Before ++ ["--rpc-eval", Node, lists:flatten(lists:join(" ", Expression))];
        {_, []} -> Words
    end.

word("{root}/releases/" ++ _ = W) ->
    case filename:basename(W) of "sys" -> "{sys_config}"; _ -> W end;
word(W) -> re:replace(W, "^(rpc|rem)-[0-9a-f]+-", "\\1-{random}-", [{return, list}]).

output(P, Acc) ->
    receive
        {P, {data, D}} -> output(P, [Acc, D]);
        {P, {exit_status, 0}} -> unicode:characters_to_binary(Acc);
        {P, {exit_status, S}} -> bad("the release's start script ended with status ~b: ~ts", [S, Acc])
    end.

%% As the start script of rebar3's releases.
relx_commands(VsnDir, Name, Vsn) ->
    Place = "{root}/releases/" ++ Vsn ++ "/",
    First = fun(Names) -> [N || N <- Names, filelib:is_regular(filename:join(VsnDir, N))] end,
    Boot = case First([Name ++ ".boot", "start.boot"]) of
        [B | _] -> filename:rootname(B);
        [] -> bad("~ts: neither ~ts.boot nor start.boot", [VsnDir, Name])
    end,
    Config = [A || [C | _] <- [First(["sys.config", "sys.config.src"])],
                   A <- ["-config", Place ++ filename:rootname(C, ".src")]],
    VmArgs = [A || [C | _] <- [First(["vm.args", "vm.args.src"])],
                   A <- ["-args_file", Place ++ filename:rootname(C, ".src")]],
    Common = ["-boot", Place ++ Boot, "-mode", "embedded", "-boot_var", "SYSTEM_LIB_DIR", "{root}/lib"]
        ++ Config ++ VmArgs,
    %% A node beside the running one.
    Beside = ["-boot", Place ++ filename:rootname(hd(First(["start_clean.boot"]) ++ [Boot])),
              "-sname", "remote-{random}{host}", "-hidden", "-setcookie", "{cookie}"],
    Call = fun(C) -> ["-noshell", "-noinput", "-pa", ?STUB_DIR | Beside]
                         ++ ["-run", "kvik_main", "remote", C, "{node}"] end,
    [{"style", ["relx"]},
     {"command.foreground", ["-noshell", "-noinput", "+Bd" | Common]},
     {"command.console", Common},
     {"command.remote", ["-remsh", "{node}" | Beside]},
     {"template", [Place ++ N || N <- ["sys.config", "vm.args"]]}]
        ++ [{"command." ++ C, Call(C) ++ ["-extra", "{expression}"]} || C <- ["eval"]]
        ++ [{"command." ++ C, Call(C)} || C <- ["ping", "pid", "stop"]].

%% ---- Escripts

is_script(File) ->
    binary:match(contents(File), <<"#!">>) =:= {0, 2}.

contents(File) ->
    case file:read_file(File) of
        {ok, Bytes} -> Bytes;
        {error, Why} -> bad("~ts: ~ts", [File, file:format_error(Why)])
    end.

extracted(File) ->
    try escript:extract(File, [compile_source]) catch _:_ -> error end.

main_module(["-escript", "main", M | Rest], _) ->
    {Before, _} = main_module(Rest, x),
    {Before, list_to_atom(M)};
main_module([Flag | Rest], Main) ->
    {Before, Found} = main_module(Rest, Main),
    {[Flag | Before], Found};
main_module([], Main) -> {[], Main}.

unpacked(source, Code, Main, File) ->
    %% No name that a module of OTP could have.
    Name = list_to_atom(atom_to_list(Main) ++ "__escript"),
    unpacked(beam, named(Code, Name), Main, File);
unpacked(beam, Code, _, _) ->
    {ok, {Module, _}} = beam_lib:chunks(Code, [exports]),
    Name = atom_to_list(Module),
    {Module, [{filename:join([Name, "ebin", Name ++ ".beam"]), Code}]};
unpacked(archive, Zip, Main, File) ->
    case zip:unzip(Zip, [memory]) of
        {ok, Files} -> {Main, [in_application(F) || F <- Files]};
        _ -> bad("~ts: its archive is damaged", [File])
    end.

%% The code of a script without a module's name: escript has made one up, another each time.
named(Code, Name) ->
    {ok, {Made, [{abstract_code, {raw_abstract_v1, Forms}}]}} = beam_lib:chunks(Code, [abstract_code]),
    case re:run(atom_to_list(Made), "__escript__", [{capture, none}]) of
        nomatch -> Code;
        match ->
            {ok, Name, Named} = compile:forms(rename(Forms, Made, Name), [debug_info, deterministic]),
            Named
    end.

rename(Old, Old, New) -> New;
rename([H | T], Old, New) -> [rename(H, Old, New) | rename(T, Old, New)];
rename(T, Old, New) when is_tuple(T) -> list_to_tuple(rename(tuple_to_list(T), Old, New));
rename(T, _, _) -> T.

%% Files at the top of an archive have no application of their own.
in_application({Name, Bytes}) ->
    case filename:split(Name) of
        [Top] -> {filename:join(["archive", "ebin", Top]), Bytes};
        _ -> {Name, Bytes}
    end.

script(Target, Module, Own, Itself, Flags, [Work, Mode | _] = Rest) ->
    Beams = [B || {N, B} <- Own, filename:extension(N) =:= ".beam"],
    exports_main(Module, Own) orelse bad("~ts: ~ts has no function main/1", [Target, Module]),
    Written = [begin
        File = filename:join([Work, "own", N]),
        ok = filelib:ensure_dir(File),
        ok = file:write_file(File, B),
        {"root/lib/" ++ N, File}
    end || {N, B} <- Own],
    Names = [list_to_atom(filename:basename(N, ".app")) || {N, _} <- Own, filename:extension(N) =:= ".app"],
    Needs = lists:append([applications(N, B) || {N, B} <- Own, filename:extension(N) =:= ".app"]),
    Apps = closure([A || A <- ?NEEDED ++ called(Beams) ++ Needs, not lists:member(A, Names)]),
    Libs = lists:append([files_of(A) || A <- Apps]),
    warn(Target, Beams, [list_to_atom(filename:basename(N, ".beam")) || {N, _} <- Own]),
    Paths = lists:usort([filename:dirname(N) || {N, _} <- Own, filename:extension(N) =:= ".beam"]),
    Args = ["+B", "-boot", "{root}/bin/no_dot_erlang", "-noshell"] ++ Flags
        ++ lists:append([["-pa", "{root}/lib/" ++ P] || P <- Paths])
        ++ ["-pa", ?STUB_DIR, "-run", "kvik_main", "start", atom_to_list(Module)],
    [{_, Stub}] = stub(Work),
    {ok, StubCode} = file:read_file(Stub),
    All = Written ++ stub(Work) ++ case Mode of
        "slim" -> slim(Libs, [StubCode | Beams], Work);
        "whole" -> Libs
    end,
    Notes = [{"kind", ["program"]}, {"name", [atom_to_list(Module)]}, {"args", Args}
             | [{"script", ["{root}" ++ P]} || {"root" ++ P, _} <- Itself]],
    finish(All ++ Itself ++ boot_files(), Notes, Rest).

%% A module that cannot be loaded does not go along.
whole(File) ->
    Module = list_to_atom(filename:basename(File, ".beam")),
    Code = case contents(File) of
        <<31, 139, _/binary>> = Zipped -> try zlib:gunzip(Zipped) catch error:_ -> <<>> end;
        Bytes -> Bytes
    end,
    case erlang:prepare_loading(Module, Code) of
        {error, Why} -> bad("~ts: it cannot be loaded: ~ts", [File, Why]);
        _ -> ok
    end.

%% Of modules that are nowhere.
warn(Target, Beams, Own) ->
    Called = lists:usort(lists:append([imported(B) || B <- Beams])) -- Own,
    case [M || M <- Called, code:which(M) =:= non_existing] of
        [] -> ok;
        None -> io:format(standard_error, "kvik build: ~ts: warning: calls modules that are not found: ~ts~n",
                          [Target, lists:join(" ", [atom_to_list(M) || M <- None])])
    end.

exports_main(Module, Own) ->
    Beam = atom_to_list(Module) ++ ".beam",
    Found = [B || {N, B} <- Own, filename:basename(N) =:= Beam],
    [true || B <- Found, {ok, {_, [{exports, E}]}} <- [beam_lib:chunks(B, [exports])],
             lists:member({main, 1}, E)] =/= [].

%% Compiled from Work/kvik_main.erl.
stub(Work) ->
    Source = filename:join(Work, "kvik_main"),
    {ok, kvik_main} = compile:file(Source, [deterministic, {outdir, Work}]),
    [{"root/lib/kvik_main/kvik_main.beam", Source ++ ".beam"}].

%% The applications whose modules these call or name.
called(Beams) ->
    Named = lists:usort(lists:append([atoms(B) || B <- Beams]
                                     ++ [in_literals(B) || B <- Beams, starts_applications(B)])),
    Is = fun(A) -> A =/= '' andalso is_otp(A) andalso is_complete(A) end,
    lists:usort([A || A <- Named, Is(A)] ++
                [App || M <- lists:usort(lists:append([imported(B) || B <- Beams])),
                        {ok, App} <- [application_of(M)]]).

%% A word may be the name of an application that the program does not need, and of which some is missing.
is_complete(App) ->
    try closure([App]) of _ -> true catch throw:{bad, _, _} -> false end.

atoms(Beam) -> [A || {_, A} <- chunk(Beam, atoms, [])].
imported(Beam) -> lists:usort([M || {M, _, _} <- chunk(Beam, imports, [])]).

starts_applications(Beam) ->
    [F || {application, F, _} <- chunk(Beam, imports, []),
          lists:member(F, [start, ensure_started, ensure_all_started, load])] =/= [].

chunk(Beam, Name, Options) ->
    case beam_lib:chunks(Beam, [Name], Options) of
        {ok, {_, [{Name, Found}]}} -> Found;
        {error, beam_lib, Why} -> bad("~ts", [string:trim(beam_lib:format_error(Why))])
    end.

%% Atoms within lists, tuples and maps that are written in the source. Each literal is preceded by its
%% size; since OTP 28 they need not be compressed.
in_literals(Beam) ->
    case chunk(Beam, "LitT", [allow_missing_chunks]) of
        <<0:32, _:32, Literals/binary>> -> literals(Literals);
        <<_:32, Compressed/binary>> ->
            <<_:32, Literals/binary>> = zlib:uncompress(Compressed),
            literals(Literals);
        missing_chunk -> []
    end.

literals(All) -> lists:usort(lists:append([atoms_of(binary_to_term(T)) || <<Size:32, T:Size/binary>> <= All])).

atoms_of(A) when is_atom(A) -> [A];
atoms_of([H | T]) -> atoms_of(H) ++ atoms_of(T);
atoms_of(T) when is_tuple(T) -> atoms_of(tuple_to_list(T));
atoms_of(M) when is_map(M) -> atoms_of(maps:to_list(M));
atoms_of(_) -> [].

is_otp(App) ->
    case code:lib_dir(App) of
        {error, bad_name} -> false;
        Dir -> lists:prefix(code:lib_dir() ++ "/", Dir)
    end.

application_of(Module) ->
    case code:which(Module) of
        File when is_list(File), File =/= [] ->
            case filelib:wildcard("*.app", filename:dirname(File)) of
                [App] -> {ok, list_to_atom(filename:basename(App, ".app"))};
                _ -> none
            end;
        _ -> none
    end.

%% ---- Applications

closure(Apps) -> closure(Apps, []).

closure([], Done) -> lists:reverse(Done);
closure([App | Rest], Done) ->
    case lists:member(App, Done) of
        true -> closure(Rest, Done);
        false -> closure(needs(App) ++ Rest, [App | Done])
    end.

needs(App) ->
    case code:where_is_file(atom_to_list(App) ++ ".app") of
        non_existing -> bad("the application ~ts is needed and nowhere to be found", [App]);
        File -> applications(File, contents(File))
    end.

applications(File, Bytes) ->
    Encoding = case epp:read_encoding_from_binary(Bytes) of none -> epp:default_encoding(); E -> E end,
    Text = unicode:characters_to_list(Bytes, Encoding),
    Props = case erl_scan:string(Text) of
        {ok, Tokens, _} ->
            case erl_parse:parse_term(Tokens) of
                {ok, {application, _, Ps}} when is_list(Ps) -> Ps;
                {ok, _} -> bad("~ts: not an .app file", [File]);
                {error, Why} -> wrong_line(File, Why)
            end;
        {error, Why, _} -> wrong_line(File, Why)
    end,
    Optional = [A || A <- proplists:get_value(optional_applications, Props, []),
                     code:where_is_file(atom_to_list(A) ++ ".app") =:= non_existing],
    (proplists:get_value(applications, Props, []) ++ proplists:get_value(included_applications, Props, []))
        -- Optional.

wrong_line(File, {Line, M, Why}) -> bad("~ts:~w: ~ts", [File, Line, M:format_error(Why)]).

vsn(App) -> proplists:get_value(vsn, properties(App), "").

properties(App) ->
    {ok, [{application, _, Props}]} = file:consult(code:where_is_file(atom_to_list(App) ++ ".app")),
    Props.

files_of(App) ->
    File = filename:absname(code:where_is_file(atom_to_list(App) ++ ".app")),
    app_tree(filename:dirname(filename:dirname(File)), lists:concat(["root/lib/", App, "-", vsn(App)])).

app_tree(Dir, Inside) ->
    [F || {N, _} = F <- tree(filename:join(Dir, "ebin"), Inside ++ "/ebin"),
          lists:member(filename:extension(N), [".beam", ".app", ".appup"])]
        ++ tree(filename:join(Dir, "priv"), Inside ++ "/priv").

%% The files below a directory, by their paths in the tree; where there is none, none. Links are followed,
%% but those that lead nowhere or back. A directory without files has the source "".
tree(Dir, Inside) -> tree(Dir, Inside, fun(_) -> false end).
tree(Dir, Inside, Skip) ->
    case file:read_file_info(Dir) of
        {ok, #file_info{type = directory} = I} -> tree(Dir, Inside, Skip, [identity(I)]);
        _ -> []
    end.

tree(Dir, Inside, Skip, Above) ->
    Names = case file:list_dir_all(Dir) of
        {ok, All} -> All;
        {error, Why} -> bad("~ts: ~ts", [Dir, file:format_error(Why)])
    end,
    Found = [entry(Dir, N, Inside, Skip, Above) || N <- lists:sort(Names)],
    case Found of
        [] -> [{Inside, ""}];
        _ -> lists:append(Found)
    end.

entry(Dir, Name, _, _, _) when is_binary(Name) ->
    bad("~ts: a file name that is not UTF-8: ~tp", [Dir, Name]);
entry(Dir, Name, Inside, Skip, Above) ->
    Path = filename:join(Dir, Name),
    Place = Inside ++ "/" ++ Name,
    case {Skip(Place), file:read_file_info(Path)} of
        {false, {ok, #file_info{type = directory} = I}} ->
            case lists:member(identity(I), Above) of
                true -> [];
                false -> tree(Path, Place, Skip, [identity(I) | Above])
            end;
        {false, {ok, #file_info{type = regular}}} -> [{Place, Path}];
        _ -> []
    end.

identity(#file_info{major_device = D, inode = I}) -> {D, I}.

boot_files() ->
    Root = code:root_dir(),
    [{"root/bin/" ++ B, filename:join([Root, "bin", B])}
     || B <- ["start.boot", "start_clean.boot", "no_dot_erlang.boot"],
        filelib:is_regular(filename:join([Root, "bin", B]))].

%% ---- Slim: modules of stdlib that can be reached

%% Other applications are taken whole: their supervisors start modules by name. Of stdlib, modules that
%% are called by names made at run time, and what prints reports and errors.
-define(ALWAYS, [erl_error, error_logger, unicode_util, io_lib, io_lib_format, io_lib_pretty, erl_parse]).

slim(Libs, Own, Work) ->
    Files = maps:from_list([{list_to_atom(filename:basename(P, ".beam")), {P, F}}
                            || {P, F} <- Libs, filename:extension(P) =:= ".beam"]),
    Whole = [M || {M, {P, _}} <- maps:to_list(Files), string:prefix(P, "root/lib/stdlib-") =:= nomatch],
    Boot = boot_modules(filename:join([code:root_dir(), "bin", "no_dot_erlang.boot"])),
    Start = Whole ++ Boot ++ ?ALWAYS ++ lists:append([imported(B) ++ atoms(B) ++ in_literals(B) || B <- Own]),
    Kept = reach([M || M <- Start, is_map_key(M, Files)], Files, #{}),
    Left = lists:sort(maps:keys(maps:without(maps:keys(Kept), Files))),
    ok = file:write_file(filename:join(Work, "left_out"), [io_lib:format("~ts~n", [M]) || M <- Left]),
    [{P, stripped(F, Work)} || {P, F} <- maps:values(maps:with(maps:keys(Kept), Files))]
        ++ [F || {P, _} = F <- Libs, filename:extension(P) =/= ".beam"].

reach([], _, Seen) -> Seen;
reach([M | Rest], Files, Seen) when is_map_key(M, Seen) -> reach(Rest, Files, Seen);
reach([M | Rest], Files, Seen) ->
    {_, File} = map_get(M, Files),
    reach([N || N <- imported(File) ++ supervised(M), is_map_key(N, Files)] ++ Rest, Files, Seen#{M => true}).

%% What modules of stdlib start by name.
supervised(dets) -> [dets_sup, dets_server];
supervised(_) -> [].

boot_modules(File) ->
    {ok, Bytes} = file:read_file(File),
    {script, _, Commands} = binary_to_term(Bytes),
    %% What comes later is loaded in embedded mode alone.
    First = lists:takewhile(fun(C) -> C =/= {kernel_load_completed} end, Commands),
    lists:append([Ms || {primLoad, Ms} <- First]).

%% By the bytes: by its name beam_lib changes the file itself. It compresses, which costs at each start.
stripped(File, Work) ->
    {ok, Bytes} = file:read_file(File),
    {ok, {M, Packed}} = beam_lib:strip(Bytes),
    Code = zlib:gunzip(Packed),
    To = filename:join([Work, "stripped", atom_to_list(M) ++ ".beam"]),
    ok = filelib:ensure_dir(To),
    ok = file:write_file(To, Code),
    To.

%% ---- The result

finish(Files, Notes, [Work, Mode, Erts, Preloaded, Programs]) ->
    Vm = [{"root/erts-" ++ Erts ++ "/ebin/" ++ filename:basename(F), F}
          || F <- filelib:wildcard(filename:join(Preloaded, "*.beam"))]
        ++ [{"root/erts-" ++ Erts ++ "/bin/" ++ P, filename:join(Programs, P)}
            || P <- ["epmd", "heart", "inet_gethost"], filelib:is_regular(filename:join(Programs, P))],
    Lines = [begin
        lists:any(fun(C) -> C =:= $\t orelse C =:= $\n end, P ++ F) andalso bad("~tp: a name with a tab or a newline", [F]),
        [P, $\t, F, $\n]
    end || {P, F} <- lists:usort(Files ++ Vm)],
    ok = file:write_file(filename:join(Work, "files"), unicode:characters_to_binary(Lines)),
    [begin
        File = filename:join([Work, "notes", Name]),
        ok = filelib:ensure_dir(File),
        ok = file:write_file(File, [[unicode:characters_to_binary(W), 0] || W <- Words])
    end || {Name, Words} <- Notes],
    Mode =:= "slim" orelse native([F || {_, F} <- Vm] ++ starting(Notes, Files)),
    ok.

%% The modules that are loaded as the program starts: a release's all; of another's libraries those that this
%% machine has loaded for its own start.
starting([{"kind", ["program"]} | _], Files) ->
    [F || {"root/lib/" ++ P, F} <- Files, is_loaded(F) orelse not is_otp(list_to_atom(hd(string:lexemes(P, "-/"))))];
starting(_, Files) -> [F || {_, F} <- Files].

is_loaded(File) -> erlang:module_loaded(list_to_atom(filename:basename(File, ".beam"))).

%% Their code is made as this machine prepares them, and goes to its cache.
native(Files) ->
    [begin
        {ok, Bytes} = file:read_file(F),
        erlang:prepare_loading(list_to_atom(filename:basename(F, ".beam")), Bytes)
    end || F <- Files, filename:extension(F) =:= ".beam"].
