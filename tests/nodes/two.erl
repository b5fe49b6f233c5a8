%% For programs that run on one node and have another beside them.
-module(two).
-export([other/0, p/2]).

%% The other node's name, when it can be reached.
other() ->
    {ok, [[Name]]} = init:get_argument(other),
    wait(list_to_atom(Name), 200).
wait(N, Tries) ->
    case net_adm:ping(N) of
        pong -> N;
        pang when Tries > 0 -> timer:sleep(50), wait(N, Tries - 1);
        pang -> io:format("no node ~p~n", [N]), halt(2)
    end.

%% What a call comes to; names of nodes differ from run to run.
p(Label, F) ->
    T = try F() catch C:R -> {C, R} end,
    Text = lists:flatten(io_lib:format("~p: ~0tp~n", [Label, T])),
    {ok, [[Name]]} = init:get_argument(other),
    io:put_chars(string:replace(string:replace(Text, Name, "OTHER", all), atom_to_list(node()), "THIS", all)).
