%% Funs, exceptions, processes.
-module(work_control).
-behaviour(gen_server).
-export([programs/0, id/1, init/1, handle_call/3, handle_cast/2]).

programs() ->
    [{funs, fun() -> funs(80000, fun(X) -> X + 1 end, 0) end, 240000},
     {exceptions, fun() -> exceptions(30000, 0) end, 30000},
     {spawn_exit, fun() -> lives(1000, 0) end, 1000},
     {gen_server, fun() -> calls(1000) end, 1000}].

%% A fun of this module, a fun of another, and a name that is known late.
funs(0, _, Sum) -> Sum;
funs(N, Fun, Sum) ->
    funs(N - 1, Fun, apply(?MODULE, id(id), [Fun(apply(fun erlang:'+'/2, [Sum, 2]))])).

id(X) -> X.

exceptions(0, Caught) -> Caught;
exceptions(N, Caught) ->
    exceptions(N - 1, Caught + caught(N)).

caught(N) ->
    try fail(N rem 3, N)
    catch
        throw:N -> 1;
        error:{bad, N} -> 1;
        error:badarith -> 1
    end.

fail(0, N) -> throw(N);
fail(1, N) -> error({bad, N});
fail(2, N) -> N + id(none).

lives(0, Ended) -> Ended;
lives(N, Ended) ->
    {Pid, Monitor} = spawn_monitor(fun() -> exit({done, N}) end),
    receive {'DOWN', Monitor, process, Pid, {done, N}} -> lives(N - 1, Ended + 1) end.

calls(N) ->
    {ok, Server} = gen_server:start(?MODULE, 0, []),
    [gen_server:call(Server, add) || _ <- lists:seq(1, N)],
    Total = gen_server:call(Server, total),
    gen_server:stop(Server),
    Total.

init(Total) -> {ok, Total}.
handle_call(add, _From, Total) -> {reply, ok, Total + 1};
handle_call(total, _From, Total) -> {reply, Total, Total}.
handle_cast(_, Total) -> {noreply, Total}.
