%% Compiles Erlang sources with every combination of compiler options; tests/verifier/run starts this
%% on OTP.
%%
%% SOURCES names a file with a source per line, OPTIONS one with a combination per line, OUT the
%% folder for `MODULE@NUMBER@LINE.beam` (NUMBER: which source, LINE: which combination). Passes up to
%% Core Erlang are run once for each source, since no option here changes them.
-module(options).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    Sources = lines(os:getenv("SOURCES")),
    Options = [{N, options(L)} || {N, L} <- lists:enumerate(lines(os:getenv("OPTIONS"))), hd(L) =/= $#],
    {Made, Not} = lists:foldl(fun (S, Counts) -> source(S, Options, Counts) end, {0, 0},
                              lists:enumerate(Sources)),
    io:format("COMPILED ~b ~b~n", [Made, Not]),
    halt(0).

lines(File) ->
    {ok, Text} = file:read_file(File),
    [binary_to_list(L) || L <- binary:split(Text, <<"\n">>, [global]), L =/= <<>>].

options("-") -> [];
options(Line) -> [list_to_atom(Word) || Word <- string:lexemes(Line, " ")].

source({N, File}, Options, {Made, Not}) ->
    case limited(fun () -> compile:file(File, [to_core0, binary, nowarn_obsolete_bool_op | includes(File)]) end) of
        {ok, Module, Core} ->
            Done = [true || {Line, Os} <- Options, beam(N, Module, Core, File, Line, Os)],
            {Made + length(Done), Not + length(Options) - length(Done)};
        _ ->
            io:format("SKIPPED ~ts~n", [File]),
            {Made, Not}
    end.

beam(N, Module, Core, File, Line, Os) ->
    case limited(fun () -> compile:noenv_forms(Core, [from_core, binary, no_spawn_compiler_process | Os]) end) of
        {ok, Module, Beam} ->
            Name = io_lib:format("~ts@~b@~b.beam", [Module, N, Line]),
            ok = file:write_file(filename:join(os:getenv("OUT"), Name), Beam),
            true;
        _ ->
            io:format("FAILED ~ts ~w~n", [File, Os]),
            false
    end.

%% What it comes to, unless that takes minutes.
limited(F) ->
    {Pid, Ref} = spawn_monitor(fun () -> exit({done, catch F()}) end),
    receive
        {'DOWN', Ref, _, _, {done, Result}} -> Result;
        {'DOWN', Ref, _, _, Reason} -> Reason
    after 300000 ->
        exit(Pid, kill),
        receive {'DOWN', Ref, _, _, _} -> timeout end
    end.

%% Folders of header files: the source's own, its neighbours', and those of all applications.
includes(File) ->
    Dir = filename:dirname(File),
    Up = filename:dirname(Dir),
    Otp = os:getenv("OTP_SRC"),
    Near = [Dir, Up, filename:dirname(Up)] ++ [filename:join([D, S]) || D <- [Up, filename:dirname(Up)],
                                                  S <- ["include", "src", "inc"]],
    Far = [D || P <- ["lib/*/include", "lib/kernel/src", "lib/stdlib/src", "lib/*/src", "erts/emulator/test",
                      "lib/*/test"],
                D <- filelib:wildcard(filename:join(Otp, P))],
    [{i, D} || D <- Near ++ Far, filelib:is_dir(D)].
