-module(purge_after_load).
-export([main/0]).

%% A purge that follows a load at once ends no process that only makes calls to exported functions, though
%% such a process may be out of its turn at the entry of an old function. That it goes on before it is
%% asked is a matter of time on OTP too, so a few rounds of 20 may fail.
main() ->
    [t:p({Which, lists:foldl(fun(_, N) -> N + lives(Which) end, 0, lists:seq(1, 20)) >= 15}) || Which <- [in_module, caller]],
    [t:p({on_load, Which, lists:foldl(fun(_, N) -> N + lives(Which, [on_load]) end, 0, lists:seq(1, 20)) >= 15}) || Which <- [in_module, caller]],
    t:p({local, lives(local)}),
    t:p({on_load, local, lives(local, [on_load])}).

lives(Which) -> lives(Which, []).

lives(Which, OnLoad) ->
    {module, purged} = load(1, OnLoad),
    {P, M} = spawn_monitor(fun() -> run(Which) end),
    await_calls(P),
    {module, purged} = load(2, OnLoad),
    code:purge(purged),
    receive
        {'DOWN', M, process, P, killed} -> 0
    after 20 ->
        demonitor(M, [flush]),
        exit(P, kill),
        1
    end.

run(in_module) -> purged:exported(0);
run(local) -> purged:local(0);
run(caller) -> calls().

calls() ->
    purged:version(),
    calls().

%% It has used up a turn.
await_calls(P) ->
    case process_info(P, reductions) of
        {reductions, N} when N > 10_000 -> ok;
        _ -> await_calls(P)
    end.

load(Version, OnLoad) ->
    code:purge(purged),
    code:load_binary(purged, "purged.erl", code(Version, OnLoad)).

code(Version, OnLoad) ->
    Forms =
        [{attribute, 1, module, purged},
         {attribute, 1, export, [{version, 0}, {exported, 1}, {local, 1}, {initialise, 0}]}]
        ++ [{attribute, 1, on_load, {initialise, 0}} || on_load <- OnLoad] ++
        [{function, 1, version, 0, [{clause, 1, [], [], [{integer, 1, Version}]}]},
         {function, 1, exported, 1, [{clause, 1, [{var, 1, 'N'}], [], [{call, 1, {remote, 1, {atom, 1, purged}, {atom, 1, exported}}, [next()]}]}]},
         {function, 1, local, 1, [{clause, 1, [{var, 1, 'N'}], [], [{call, 1, {atom, 1, local}, [next()]}]}]},
         {function, 1, initialise, 0, [{clause, 1, [], [], [{atom, 1, ok}]}]}],
    {ok, purged, Binary} = compile:forms(Forms, []),
    Binary.

next() -> {op, 1, '+', {var, 1, 'N'}, {integer, 1, 1}}.
