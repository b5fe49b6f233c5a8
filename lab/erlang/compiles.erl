%% compile:file/2 of OTP's lists.erl, for the time of the whole process. Where
%% OTP came without sources, from a text made of what lists.beam says of its own.
%%
%%   erl -noshell -s compiles start
%%
%% In this process, for the time of compiling alone: `lists/2` that file so many
%% times, `stdlib/2` so many modules of stdlib from what their files say of their
%% own.
-module(compiles).
-export([start/0, sources/1, lists/2, stdlib/2, some/1]).

start() ->
    {ok, lists, Code} = compile:file(source(), [binary, report_errors]),
    true = byte_size(Code) > 10000,
    halt().

source() ->
    Installed = filename:join([code:lib_dir(stdlib), "src", "lists.erl"]),
    Made = filename:absname("lists.erl"),
    case {filelib:is_regular(Installed), filelib:is_regular(Made)} of
        {true, _} -> Installed;
        {false, true} -> Made;
        {false, false} -> make(Made)
    end.

make(Made) ->
    {ok, {lists, [{abstract_code, {raw_abstract_v1, Forms}}]}} =
        beam_lib:chunks(code:which(lists), [abstract_code]),
    ok = file:write_file(Made, [erl_pp:form(F) || F <- Forms, element(3, F) =/= file]),
    Made.

sources(_) -> source().

lists(0, _) -> ok;
lists(N, Source) ->
    {ok, lists, Code} = compile:file(Source, [binary, report_errors]),
    true = byte_size(Code) > 10000,
    lists(N - 1, Source).

stdlib(Count, _) ->
    [module(File) || File <- some(Count)],
    ok.

%% The files of so many of stdlib's modules, taken evenly from all in the order of
%% their names; 0 is all.
some(0) ->
    All = filelib:wildcard(filename:join([code:lib_dir(stdlib), "ebin", "*.beam"])),
    true = length(All) > 80,
    All;
some(Count) ->
    Files = some(0),
    All = length(Files),
    true = Count =< All,
    [lists:nth(I * All div Count + 1, Files) || I <- lists:seq(0, Count - 1)].

module(File) ->
    {ok, {Name, [{abstract_code, {raw_abstract_v1, Forms}}]}} =
        beam_lib:chunks(File, [abstract_code]),
    {ok, Name, Code} = compile:forms(Forms, [binary]),
    true = is_binary(Code).
