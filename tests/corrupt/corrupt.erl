%% Loads damaged .beam files and calls what is in them. tests/corrupt/run starts this.
%%
%% Of the process's standard error nothing is expected: a panic of the VM shows there.
-module(corrupt).
-export([prepare/0, batch/0, one/0, list/0, answers/0]).

%% Time for all calls of one variant, in ms; then the process is killed.
-define(TIME, 60).
-define(LIMIT, [{max_heap_size, #{size => 500000, kill => true, error_logger => false}}]).

env(Name) -> os:getenv(Name).
int(Name) -> list_to_integer(env(Name)).

%% ---- seeds: our own modules, compiled in several ways, and some of OTP ----

sources() ->
    [{M, Tag, Opts} || M <- ["cs_data", "cs_bits", "cs_flow"],
                       {Tag, Opts} <- [{"", []},
                                       {"-plain", [no_copt, no_ssa_opt, no_bsm_opt, no_type_opt, no_postopt]},
                                       {"-inline", [inline, {inline_size, 60}]},
                                       {"-r23", [r23]}, {"-twice", []}]].
otp() ->
    [lists, maps, dict, gb_trees, base64, uri_string, queue, string, array, erl_scan, calendar,
     io_lib_format, rand, proplists, ordsets].

prepare() ->
    Dir = env("CORRUPT_SEEDS"),
    Own = [begin
               {ok, _, Beam} = compile:file(filename:join(env("CORRUPT_SOURCES"), M), [binary | Opts]),
               save(Dir, M ++ Tag, corrupt_beam:chunks(Beam))
           end || {M, Tag, Opts} <- sources()],
    Otp = [begin
               {ok, Beam} = file:read_file(code:where_is_file(atom_to_list(M) ++ ".beam")),
               Name = "c_" ++ atom_to_list(M),
               save(Dir, Name, corrupt_beam:rename(corrupt_beam:chunks(Beam), list_to_atom(Name)))
           end || M <- otp()],
    ok = file:write_file(filename:join(Dir, "names"), io_lib:format("~p.~n", [mixed(Own, Otp)])),
    halt(0).

save(Dir, Name, Chunks) ->
    ok = file:write_file(filename:join(Dir, Name ++ ".beam"), corrupt_beam:file(Chunks)),
    Name.

mixed([A | As], [B | Bs]) -> [A, B | mixed(As, Bs)];
mixed(As, Bs) -> As ++ Bs.

%% One seed serves so many variants in a row, so that a batch need not read all of them.
-define(ROW, 50).

seed(N, Names) ->
    Name = lists:nth(1 + N div ?ROW rem length(Names), Names),
    case get(seed) of
        {Name, Seed} -> Seed;
        _ ->
            {ok, File} = file:read_file(filename:join(env("CORRUPT_SEEDS"), Name ++ ".beam")),
            Chunks = corrupt_beam:chunks(File),
            {_, [Module | _]} = corrupt_beam:atoms(proplists:get_value(<<"AtU8">>, Chunks)),
            Meta = proplists:get_value(<<"Meta">>, Chunks),
            Seed = {Name, {binary_to_atom(Module), Meta}, corrupt_mutate:seed(Name, Chunks)},
            put(seed, {Name, Seed}),
            Seed
    end.

names() ->
    {ok, [Names]} = file:consult(filename:join(env("CORRUPT_SEEDS"), "names")),
    Names.

%% ---- variants ----

%% Numbers From to To. Before each, a line goes to the progress file: "NUMBER REFUSED LOADED
%% FINISHED KILLED", the number and what came of those before; behind the last, "done" and the peak
%% of memory in KB.
batch() ->
    Names = names(),
    {ok, Progress} = file:open(env("CORRUPT_PROGRESS"), [write, raw]),
    Out = batch(int("CORRUPT_FROM"), int("CORRUPT_TO"), Names, Progress, {0, 0, 0, 0}),
    note(Progress, "done", Out, peak()),
    halt(0).

batch(N, To, _, _, Counts) when N > To -> Counts;
batch(N, To, Names, Progress, {R, L, F, K}) ->
    note(Progress, integer_to_list(N), {R, L, F, K}, 0),
    {Name, Module, Seed} = seed(N, Names),
    {What, File} = corrupt_mutate:variant(Seed, N, int("CORRUPT_SALT")),
    Counts =
        case run(Module, File, N) of
            refused -> {R + 1, L, F, K};
            finished -> {R, L + 1, F + 1, K};
            killed -> {R, L + 1, F, K + 1};
            Odd ->
                io:format("ODD ~b ~s: ~0p: ~0P~n", [N, Name, What, Odd, 25]),
                {R, L, F, K}
        end,
    said(N, Name, What),
    batch(N + 1, To, Names, Progress, Counts).

note(Progress, At, {R, L, F, K}, Peak) ->
    Line = lists:join($ , [At | [integer_to_list(I) || I <- [R, L, F, K, Peak]]]),
    ok = file:pwrite(Progress, 0, [Line, "        \n"]).

%% Standard error goes to a file: did the variant make it longer?
said(N, Name, What) ->
    case file:read_file(env("CORRUPT_STDERR")) of
        {ok, Bin} ->
            case get(said) of
                Size when byte_size(Bin) =:= Size -> ok;
                undefined when Bin =:= <<>> -> ok;
                Before ->
                    put(said, byte_size(Bin)),
                    From = case Before of undefined -> 0; _ -> Before end,
                    io:format("SAID ~b ~s: ~0p: ~0p~n", [N, Name, What, binary:part(Bin, From, min(300, byte_size(Bin) - From))])
            end;
        _ -> ok
    end.

peak() ->
    case file:read_file("/proc/self/status") of
        {ok, Status} ->
            case re:run(Status, "VmHWM:\\s*([0-9]+)", [{capture, all_but_first, list}]) of
                {match, [KB]} -> list_to_integer(KB);
                _ -> 0
            end;
        _ -> 0
    end.

%% refused | finished | killed, or what should not be.
run({Module, Meta}, File, N) ->
    %% OTP's code server falls over a damaged Meta chunk (in OTP too), so it gets none.
    Way = case erts_internal:beamfile_chunk(File, "Meta") of
              Meta -> N rem 4;
              _ -> 1
          end,
    case catch load(Way, Module, File) of
        ok ->
            Result = call(Module, N),
            remove(Module),
            Result;
        {error, badfile} ->
            refused;
        {error, on_load_failure} ->
            remove(Module),
            refused;
        Odd -> Odd
    end.

load(0, Module, File) ->
    case code:load_binary(Module, "corrupt", File) of
        {module, Module} -> ok;
        Error -> Error
    end;
load(_, Module, File) ->
    case erlang:prepare_loading(Module, File) of
        {error, _} = Error -> Error;
        Prepared ->
            case erlang:has_prepared_code_on_load(Prepared) of
                true -> load(0, Module, File);
                false -> erlang:finish_loading([Prepared])
            end
    end.

remove(Module) ->
    _ = code:purge(Module),
    _ = code:delete(Module),
    _ = code:purge(Module).

call(Module, N) ->
    Exports = [E || {F, _} = E <- erlang:get_module_info(Module, exports), F =/= module_info],
    {Pid, Ref} = spawn_opt(fun () -> calls(Module, Exports, N) end, [monitor | ?LIMIT]),
    receive {'DOWN', Ref, _, _, _} -> finished
    after ?TIME ->
        exit(Pid, kill),
        receive {'DOWN', Ref, _, _, _} -> killed
        after 10000 -> {cannot_be_killed, process_info(Pid)}
        end
    end.

calls(Module, Exports, N) ->
    process_flag(trap_exit, true),
    messages(),
    Sensible = [C || {F, A} = C <- corrupt_calls:calls(Module), lists:member({F, length(A)}, Exports)],
    [call(N rem 2, Module, F, A) || {F, A} <- Sensible],
    erlang:garbage_collect(),
    [call(N rem 3, Module, F, A) || {F, A} <- corrupt_calls:senseless(Exports, N)],
    [result(catch Module:module_info()) | [erlang:garbage_collect()]].

messages() ->
    Self = self(),
    [Self ! M || M <- [x, {a, 1}, {ref, m}, [2, 3], b, stop]].

%% In this process, or in one of its own: that begins with a small heap, and often collects.
call(0, Module, F, A) -> result(catch apply(Module, F, A));
call(_, Module, F, A) ->
    Pid = spawn_opt(fun () -> messages(), result(catch apply(Module, F, A)) end, [link | ?LIMIT]),
    receive {'EXIT', Pid, _} -> ok end.

%% Looks at every part of it, unless there are too many: a term that shares its parts with itself
%% again and again would keep those who look at it busy for ever.
result(R) ->
    case parts([R], 20000) of
        many -> many;
        few -> {erlang:phash2(R), erlang:external_size(R), R =:= binary_to_term(term_to_binary(R))}
    end.

parts(_, N) when N < 0 -> many;
parts([], _) -> few;
parts([[H | T] | Rest], N) -> parts([H, T | Rest], N - 1);
parts([T | Rest], N) when is_tuple(T), tuple_size(T) < 2000 -> parts(tuple_to_list(T) ++ Rest, N - 1);
parts([T | _], _) when is_tuple(T) -> many;
parts([M | Rest], N) when is_map(M), map_size(M) < 2000 -> parts([maps:to_list(M) | Rest], N - 1);
parts([M | _], _) when is_map(M) -> many;
parts([F | Rest], N) when is_function(F) ->
    {env, Env} = erlang:fun_info(F, env),
    parts([Env | Rest], N - 1);
parts([_ | Rest], N) -> parts(Rest, N - 1).

%% ---- one by hand ----

one() ->
    N = int("CORRUPT_FROM"),
    {Name, Module, Seed} = seed(N, names()),
    {What, File} = corrupt_mutate:variant(Seed, N, int("CORRUPT_SALT")),
    io:format("~s ~b: ~p~n", [Name, N, What]),
    case env("CORRUPT_SAVE") of
        false -> ok;
        Path -> ok = file:write_file(Path, File)
    end,
    io:format("~P~n", [run(Module, File, N), 25]),
    halt(0).

%% What loading answers where something else than the code is damaged: to compare machines.
answers() ->
    Names = names(),
    [begin
         {Name, {Module, _}, Seed} = seed(N, Names),
         case corrupt_mutate:variant(Seed, N, int("CORRUPT_SALT")) of
             {What, _} when element(1, What) =:= code; element(1, element(1, What)) =:= code -> ok;
             {What, File} ->
                 Answer = case catch erlang:prepare_loading(Module, File) of
                              {error, Reason} -> Reason;
                              Prepared when is_reference(Prepared) -> ok;
                              _ -> odd
                          end,
                 io:format("~b ~s ~0P ~w~n", [N, Name, What, 9, Answer])
         end
     end || N <- lists:seq(int("CORRUPT_FROM"), int("CORRUPT_TO"))],
    halt(0).

list() ->
    Names = names(),
    [begin
         {Name, _, Seed} = seed(N, Names),
         {What, _} = corrupt_mutate:variant(Seed, N, int("CORRUPT_SALT")),
         io:format("~b ~s ~0p~n", [N, Name, What])
     end || N <- lists:seq(int("CORRUPT_FROM"), int("CORRUPT_TO"))],
    halt(0).
