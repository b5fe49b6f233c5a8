%% Runs in executables that `kvik build` makes.
-module(kvik_main).
-export([start/1, remote/1]).

%% Calls Module:main/1 with the user's arguments and ends the node, as escript does.
start([Module]) ->
    [_Name | Args] = init:get_plain_arguments(),
    process_flag(trap_exit, false),
    try (list_to_atom(Module)):main(Args) of
        _ -> halt(0)
    catch
        Class:Reason:Stack ->
            Text = erl_error:format_exception(Class, Reason, Stack),
            io:put_chars(standard_error, [Module, ": ", Text, $\n]),
            halt(127)
    end.

%% A command for the running node of a release.
remote([Command, ""]) ->
    io:format(standard_error, "~ts: vm.args has no -sname or -name~n", [Command]),
    halt(1);
remote([Command, Name]) ->
    Node = case lists:member($@, Name) of
        true -> list_to_atom(Name);
        false -> list_to_atom(Name ++ lists:dropwhile(fun(C) -> C =/= $@ end, atom_to_list(node())))
    end,
    case net_adm:ping(Node) of
        pong -> ok;
        pang ->
            io:format(standard_error, "~ts: node ~ts is not running, or has another cookie~n", [Command, Node]),
            halt(1)
    end,
    try command(Command, Node, init:get_plain_arguments()) of
        _ -> halt(0)
    catch
        Class:Reason:Stack ->
            Text = erl_error:format_exception(Class, Reason, Stack),
            io:put_chars(standard_error, [Command, ": ", Text, $\n]),
            halt(1)
    end.

command("ping", _, _) -> io:format("pong~n");
command("pid", Node, _) -> io:format("~ts~n", [erpc:call(Node, os, getpid, [])]);
command("stop", Node, _) -> erpc:call(Node, init, stop, []);
command("eval", Node, [Expression | _]) ->
    Text = string:trim(Expression, trailing),
    {ok, Tokens, _} = erl_scan:string(case lists:suffix(".", Text) of true -> Text; false -> Text ++ "." end),
    {ok, Exprs} = erl_parse:parse_exprs(Tokens),
    {value, Value, _} = erpc:call(Node, erl_eval, exprs, [Exprs, erl_eval:new_bindings()]),
    io:format("~tp~n", [Value]).
