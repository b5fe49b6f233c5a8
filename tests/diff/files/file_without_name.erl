%% A module that was compiled from forms without a file: stack traces show it by the module's name.
-module(file_without_name).
-export([main/0]).

main() ->
    Forms = [{attribute, 1, module, no_file}, {attribute, 1, export, [{f, 1}]},
             {function, 1, f, 1,
              [{clause, 1, [{var, 1, 'X'}], [],
                [{op, 3, '+', {call, 2, {atom, 2, hd}, [{var, 2, 'X'}]}, {integer, 3, 1}}]}]}],
    {ok, no_file, Code} = compile:forms(Forms, [binary]),
    {module, no_file} = code:load_binary(no_file, "nowhere", Code),
    [t:p(trace(X)) || X <- [[a], [], t:id(1)]].

trace(X) ->
    try no_file:f(X)
    catch _:Reason:Stack -> {Reason, [Info || {no_file, _, _, Info} <- Stack]}
    end.
