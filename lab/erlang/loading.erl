%% Loading all of stdlib: how long erlang:load_module/2 takes for its modules one
%% after the other, their files read before.
%%
%%   erl -noshell -s loading start
%%   erl +JPperf map -noshell -s loading size
%%
%% `size` tells instead how much native code they have become, from what the
%% machine tells `perf` of its functions. OTP names its tables there, too
%% (`codeHeader`): those are left out.
-module(loading).
-export([start/0, size/0]).

start() ->
    Modules = modules(),
    Start = erlang:monotonic_time(microsecond),
    ok = load(Modules),
    Micros = max(1, erlang:monotonic_time(microsecond) - Start),
    io:format("loading ~w in ~w s~n", [length(Modules), Micros / 1000000]),
    halt().

size() ->
    Modules = modules(),
    Map = "/tmp/perf-" ++ os:getpid() ++ ".map",
    Before = filelib:file_size(Map),
    ok = load(Modules),
    {ok, <<_:Before/binary, Text/binary>>} = file:read_file(Map),
    ok = file:delete(Map),
    Sizes = [size_of(Line) || Line <- binary:split(Text, <<"\n">>, [global]), Line =/= <<>>],
    io:format("codesize ~w bytes ~w modules~n", [lists:sum(Sizes), length(Modules)]),
    halt().

%% `START SIZE NAME`, both numbers in hexadecimal.
size_of(Line) ->
    [_, Size, Name | _] = binary:split(Line, <<" ">>, [global]),
    case binary:match(Name, <<"::codeHeader">>) of
        nomatch -> binary_to_integer(Size, 16);
        _ -> 0
    end.

modules() ->
    Files = filelib:wildcard(filename:join([code:lib_dir(stdlib), "ebin", "*.beam"])),
    true = length(Files) > 80,
    [{list_to_atom(filename:basename(File, ".beam")), read(File)} || File <- Files].

read(File) ->
    {ok, Code} = file:read_file(File),
    Code.

%% Those that are loaded already become old versions, and may still be in use.
load([]) -> ok;
load([{Module, Code} | Rest]) ->
    case erlang:load_module(Module, Code) of
        {module, Module} -> ok;
        %% Its code is in place, and is dropped instead of run.
        {error, on_load} -> erlang:finish_after_on_load(Module, false)
    end,
    load(Rest).
