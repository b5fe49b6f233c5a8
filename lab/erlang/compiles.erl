%% compile:file/2 of OTP's lists.erl, for the time of the whole process. Where
%% OTP came without sources, from a text made of what lists.beam says of its own.
%%
%%   erl -noshell -s compiles start
-module(compiles).
-export([start/0]).

start() ->
    {ok, lists, Code} = compile:file(source(), [binary, no_auto_import, nowarn_deprecated_function]),
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
