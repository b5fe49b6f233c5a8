%% gen_server:call, first with an empty mailbox, then by a caller in whose
%% mailbox that many other messages wait: finding the answer must not depend
%% on them.
%%
%%   erl -noshell -s calls start 300000 100000
-module(calls).
-behaviour(gen_server).
-export([start/1, init/1, handle_call/3, handle_cast/2]).

start([Calls, Waiting]) ->
    Count = number(Calls),
    {ok, Server} = gen_server:start_link(?MODULE, [], []),
    call(Server, Count div 10),
    report(0, Server, Count),
    Many = number(Waiting),
    [self() ! {waiting, N} || N <- lists:seq(1, Many)],
    call(Server, 1),
    report(Many, Server, Count),
    [receive {waiting, N} -> ok end || N <- lists:seq(1, Many)],
    halt().

report(Waiting, Server, Count) ->
    Start = erlang:monotonic_time(microsecond),
    call(Server, Count),
    Micros = max(1, erlang:monotonic_time(microsecond) - Start),
    io:format("calls/~w ~w in ~w s~n", [Waiting, Count, Micros / 1000000]).

call(_, 0) -> ok;
call(Server, N) ->
    N = gen_server:call(Server, N),
    call(Server, N - 1).

init([]) -> {ok, none}.
handle_call(N, _From, State) -> {reply, N, State}.
handle_cast(_, State) -> {noreply, State}.

number(Atom) ->
    list_to_integer(atom_to_list(Atom)).
