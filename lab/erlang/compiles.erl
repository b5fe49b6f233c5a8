%% compile:file/2 of OTP's lists.erl, for the time of the whole process. Where
%% OTP came without sources, from a text made of what lists.beam says of its own.
%%
%%   erl -noshell -s compiles start
%%
%% `stdlib/2` compiles all of stdlib, from what its files say of their own, in
%% this process.
-module(compiles).
-export([start/0, stdlib/2]).

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

stdlib(_, _) ->
    Files = filelib:wildcard(filename:join([code:lib_dir(stdlib), "ebin", "*.beam"])),
    true = length(Files) > 80,
    [module(File) || File <- Files],
    ok.

module(File) ->
    {ok, {Name, [{abstract_code, {raw_abstract_v1, Forms}}]}} =
        beam_lib:chunks(File, [abstract_code]),
    {ok, Name, Code} = compile:forms(Forms, [binary]),
    true = is_binary(Code).
