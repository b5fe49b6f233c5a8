%% Tools that people wait for: dialyzer on stdlib, mix on an Elixir project.
%% Where one is not installed the program says so: `missing WHAT`.
-module(programs_tools).
-export([dialyzer_there/1, dialyzer/2, project/1, mix/2]).

%% What is known of so many of stdlib's modules, as `dialyzer --build_plt` finds
%% out; it has nothing to warn of but what other applications would explain.
dialyzer_there(_) ->
    case code:lib_dir(dialyzer) of
        {error, bad_name} -> programs:missing("dialyzer (apt-get install erlang-dialyzer)");
        _ -> none
    end.

dialyzer(Count, _) ->
    Files = compiles:some(Count),
    Plt = "dialyzer.plt." ++ os:getpid(),
    Warnings = dialyzer:run([{analysis_type, plt_build}, {files, Files}, {from, byte_code},
                             {output_plt, Plt}]),
    true = filelib:file_size(Plt) > 10000,
    ok = file:delete(Plt),
    [] = [W || W <- Warnings, element(1, W) =/= warn_unknown],
    ok.

%% An application of Elixir's: each text beside this module (shop_*.ex) so many
%% times, with other names.
project(Count) ->
    elixir_there(),
    Folder = "mix." ++ os:getpid(),
    ok = filelib:ensure_path(filename:join(Folder, "lib")),
    ok = file:write_file(filename:join(Folder, "mix.exs"),
                         "defmodule Shop.MixProject do\n"
                         "  use Mix.Project\n"
                         "  def project, do: [app: :shop, version: \"1.0.0\"]\n"
                         "end\n"),
    Texts = filelib:wildcard(filename:join(filename:dirname(code:which(?MODULE)), "shop_*.ex")),
    true = Texts =/= [],
    [copy(Text, Folder, I) || Text <- Texts, I <- lists:seq(1, Count)],
    {Folder, length(Texts)}.

copy(File, Folder, I) ->
    Number = integer_to_binary(I),
    {ok, Text} = file:read_file(File),
    Name = filename:basename(File, ".ex") ++ "_" ++ integer_to_list(I) ++ ".ex",
    Own = binary:replace(Text, <<"Shop0">>, <<"Shop", Number/binary>>, [global]),
    ok = file:write_file(filename:join([Folder, "lib", Name]), Own).

%% `mix` is a text beside Elixir's own applications, and links lead to it.
elixir_there() ->
    case os:find_executable("mix") of
        false ->
            programs:missing("mix (apt-get install elixir)");
        Mix ->
            Lib = filename:join([filename:dirname(linked(Mix)), "..", "lib"]),
            code:add_pathsa(filelib:wildcard(filename:join([Lib, "*", "ebin"]))),
            code:which('Elixir.Mix.CLI') =/= non_existing orelse
                programs:missing("Elixir beside " ++ Mix),
            made_with() >= list_to_integer(erlang:system_info(otp_release)) - 2 orelse
                programs:missing("an Elixir for this OTP, which that of " ++ Mix ++ " is not")
    end.

%% The OTP release that Elixir was compiled with; it runs on that and the two after
%% it. 0: its files cannot even be loaded.
made_with() ->
    try 'Elixir.System':build_info() of
        #{otp_release := Release} -> binary_to_integer(Release)
    catch
        error:undef -> 0
    end.

linked(File) ->
    case file:read_link_all(File) of
        {ok, To} -> linked(filename:absname(To, filename:dirname(File)));
        {error, _} -> File
    end.

%% `mix compile` in that folder, in this process, whatever the user has set; what
%% it says goes nowhere.
mix(Count, {Folder, Texts}) ->
    {ok, Here} = file:get_cwd(),
    ok = file:set_cwd(Folder),
    os:putenv("MIX_ENV", "dev"),
    [os:unsetenv(Name) || Name <- ["MIX_EXS", "MIX_TARGET", "MIX_BUILD_PATH", "MIX_BUILD_ROOT"]],
    {ok, _} = application:ensure_all_started(elixir),
    'Elixir.Mix':start(),
    'Elixir.Mix':shell('Elixir.Mix.Shell.Quiet'),
    'Elixir.Mix.CLI':main([<<"compile">>]),
    true = length(filelib:wildcard("_build/dev/lib/shop/ebin/*.beam")) >= Count * Texts,
    ok = file:set_cwd(Here),
    file:del_dir_r(Folder).
